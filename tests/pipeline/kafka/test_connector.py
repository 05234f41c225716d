"""A Spark without the connector says how to get it."""

import pyspark
import pytest

from nearcast.pipeline import KafkaSink, kafka_events, kafka_messages
from nearcast.pipeline.kafka.source import NoConnector

PACKAGE = rf"--packages org\.apache\.spark:spark-sql-kafka-0-10_2\.13:{pyspark.__version__}"


@pytest.mark.parametrize("source", [kafka_events, kafka_messages])
def test_a_source_without_connector_names_the_way_out(spark, source):
    with pytest.raises(NoConnector, match=PACKAGE):
        source(spark, "127.0.0.1:9", "topic")


def test_a_sink_without_connector_names_the_way_out(spark):
    with pytest.raises(NoConnector, match=PACKAGE):
        KafkaSink(spark, "127.0.0.1:9", "topic").open("stream")
