"""Incidents in one city: many frequent words in a small space."""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nearcast.batches import MessageBatch
from nearcast.datasets.files import data_file


def chicago() -> MessageBatch:
    """156,385 incidents reported in Chicago from January to August 2018, in time order.

    City of Chicago open data, places rounded to the block by the publisher: 8.7 words on average,
    of a vocabulary of only 1,579. `time` counts seconds from 1970 as if local time were UTC.
    """
    table = pq.read_table(
        data_file("chicago_2018.parquet"), columns=["id", "ts", "lon", "lat", "text"]
    )
    microseconds = pc.cast(pc.cast(table["ts"], pa.timestamp("us")), pa.int64())
    table = table.drop_columns("ts").append_column(
        "time", pc.divide(pc.cast(microseconds, pa.float64()), 1e6)
    )
    return MessageBatch.from_arrow(table)
