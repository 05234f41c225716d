"""For the whole suite: one Hypothesis profile, one Spark session, several processes."""

import gc
import os
import re

import pytest
from hypothesis import settings

# Every Java here lives for a minute at most: its second compiler and its parallel collector would
# take as much of the processors as all that is tested.
os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

# Compilers make so many objects that looking for garbage would take a sixth of their time.
gc.set_threshold(100_000, 20, 20)

# No deadline, because a kernel compiles at its first call. The same examples in every run, so that
# a failure is a change of the code; `pytest --hypothesis-profile=explore` looks for new ones.
settings.register_profile("same", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("same")


# These start Spark in the process of the test, though not by the fixture.
STARTS_SPARK = re.compile("README.md|tests/test_examples.py.*spark_")
# A cluster, or a browser, for all tests of a file.
SHARE_A_FIXTURE = re.compile("tests/pipeline/test_local_cluster.py|tests/service/page/")
# Indexes that share kernels: compiled for minutes, in one process, while others wait for Spark.
SHARE_KERNELS = (
    re.compile(r"ap_tree|trie_quadtree|\[APTree|\[TrieQuadtree|ap_plus_tree|\[APPlus"),
    re.compile(r"r_tree|rt_tree|ir_tree|\[RtTree|\[IRTree"),
    re.compile(r"lfilter|mbr_trie|pt_quadtree|\[LFilter|\[MBRTrie|\[PTQuadtree"),
    re.compile(r"quad/|test_quad|iq_tree|rq_tree|\[IQTree|\[RQTree|cell_lists|\[IQ|\[RQ|\[SS|\[KK"),
    re.compile(r"topk/"),
    re.compile(r"trending/"),
    re.compile(r"moving/"),
)
ROOMS_WITH_KERNELS = re.compile("boolean|moving|topk|trending")
# These use every index: when all are compiled.
LAST = re.compile(
    "tests/boolean/test_state_machine.py|tests/benchmarks/test_(run|boolean|moving|trending|plot)"
    "|tests/pipeline/test_hosted_shards.py|tests/service/api/test_results.py"
    "|tests/service/page/test_(talked_about|on_the_move).py"
)


@pytest.hookimpl(tryfirst=True)  # before the plugin that reads the marks
def pytest_collection_modifyitems(items):
    """A few processes run the tests; what shares something goes to one. Long groups come first."""
    for item in items:
        if group := _group(item):
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=_turn)


def pytest_collection_finish():
    gc.freeze()  # thousands of tests are no garbage, whoever looks for some


def _group(item):
    if "spark" in getattr(item, "fixturenames", ()) or STARTS_SPARK.match(item.nodeid):
        return "spark"
    if SHARE_A_FIXTURE.match(item.nodeid):
        return item.nodeid.partition("::")[0]
    if ROOMS_WITH_KERNELS.search(item.nodeid) and not LAST.match(item.nodeid):
        for number, family in enumerate(SHARE_KERNELS):
            if family.search(item.nodeid):
                return f"kernels {number}"
    return None


def _turn(item):
    if LAST.match(item.nodeid):
        return 2
    return 0 if item.get_closest_marker("xdist_group") else 1


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Starting Spark takes seconds, so that whoever needs it shares this one."""
    from nearcast.pipeline import spark_session

    folder = tmp_path_factory.mktemp("spark")
    session = spark_session(
        "local[2]",
        settings={
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.local.dir": str(folder / "local"),
            "spark.driver.memory": "1g",
        },
    )
    yield session
    session.stop()
