"""One Hypothesis profile for the whole suite."""

from hypothesis import settings

# No deadline, because a kernel compiles at its first call. The same examples in every run, so that
# a failure is a change of the code; `pytest --hypothesis-profile=explore` looks for new ones.
settings.register_profile("same", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("same")
