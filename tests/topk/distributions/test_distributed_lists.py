"""Whatever the distribution and the number of shards: the lists of the oracle."""

from hypothesis import settings

from nearcast.topk.distributions import DistributedLists
from tests.topk.distributions.small import MAKERS
from tests.topk.test_state_machine import Comparison


class Distributed(Comparison):
    """The same calls to the oracle and to shards."""

    kind = DistributedLists
    make_distribution, shards = None, 1

    def small(self):
        return {"distribution": type(self).make_distribution(self.shards)}


for maker in MAKERS:
    for shards in (1, 2, 5):
        name = f"{maker.__name__}_{shards}"
        parts = {"make_distribution": staticmethod(maker), "shards": shards}
        case = type(name, (Distributed,), parts).TestCase
        case.settings = settings(max_examples=6, stateful_step_count=30)
        globals()[f"Test_{name}"] = case
del case
