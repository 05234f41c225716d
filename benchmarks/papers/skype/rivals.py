"""Whom the later figures compare: Skype, the best baseline, and the default of this product."""

from benchmarks.figure import Ratio
from benchmarks.topk.contenders import named

RIVALS = named("WordLists", "Skype", "CIQKmax")
ORDERING = (
    Ratio("synthetic", "CIQ-Kmax", "Skype (IGPT-cSkyband)", "about 10"),
    Ratio("synthetic", "CIQ-Kmax", "WordLists", "not there"),
)
