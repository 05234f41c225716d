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
settings.register_profile("same", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("same")


# These start Spark in the process of the test, though not by the fixture.
STARTS_SPARK = re.compile("README.md|tests/test_examples.py.*spark_")
# A cluster, a broker, or a browser, for all tests of a file.
SHARE_A_FIXTURE = re.compile(
    "tests/pipeline/test_local_cluster.py|tests/pipeline/kafka/test_kafka.py|tests/service/page/"
)
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
# The indexes of the papers, and those that they compare theirs with: `make test` would compile them
# for as long as everything else takes.
RIVALS = re.compile(
    r"/(_quad|ap_tree|iq_tree|ir_tree|r_tree|rt_tree|rq_tree|lfilter|mbr_trie|pt_quadtree|trie_quadtree)\b"
    r"|/(skype|grouped_tables|term_tables|sst|ap_plus_tree|cell_lists)\b"
    r"|test_(quad|ap_tree\w*|iq_tree|ir_tree|rt_tree|rq_tree|lfilter|mbr_trie|pt_quadtree)\b"
    r"|test_(sst_example|ap_plus_tree)\b|of_rivals"
    r"|APTree|IQTree|IRTree|RtTree|RQTree|LFilter|MBRTrie|TrieQuadtree|PTQuadtree"
    r"|Skype|Skyband|Kmax|IGPT|IPT|CIQ|APPlus|IQPlus|RQPlus|SSIndex|KKIndex"
    r"|(\[|_|-|Test)(RST|TP|DS|SST|TS|FTS)\b|SSTWithin|SSTOnRoads|NearbyBaseline"
)
ROOMS_WITH_KERNELS = re.compile("boolean|moving|topk|trending")
# These wait for processes of their own: not at the end, when nobody else would be busy meanwhile.
LONG = re.compile("test_kill_loop|test_kills|after_kills|test_a_process_of_its_own|the_whole_thing")
# These use every index: when all are compiled.
LAST = re.compile(
    "tests/boolean/test_state_machine.py|tests/benchmarks/test_(run|boolean|moving|trending|plot)"
    "|tests/pipeline/test_(hosted_shards|spread_shards|storm).py|tests/service/api/test_results.py"
    "|tests/service/page/test_(talked_about|on_the_move).py"
)


@pytest.hookimpl(tryfirst=True)  # before the plugin that reads the marks
def pytest_collection_modifyitems(items):
    """A few processes run the tests; what shares something goes to one. Long groups come first."""
    for item in items:
        if RIVALS.search(item.nodeid):
            item.add_marker(pytest.mark.thorough)
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
        return 4
    group = item.get_closest_marker("xdist_group")
    if group:
        return 0 if group.args == ("spark",) else 1
    return 2 if LONG.search(item.nodeid) else 3


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
            # To compile a query takes longer than these tiny ones; services in other tests do it.
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.adaptive.enabled": "false",
        },
    )
    yield session
    session.stop()
