"""Named places of the United States: the GN data set of the papers."""

import pyarrow.parquet as pq

from nearcast.batches import MessageBatch
from nearcast.datasets.files import data_file


def gnis() -> MessageBatch:
    """302,854 features of the US Board on Geographic Names, in the public domain.

    The text is the name, the class, the county, the state and the map: 7 words on average, of a
    vocabulary of 57,000.
    """
    table = pq.read_table(data_file("gnis_us.parquet"), columns=["id", "lon", "lat", "text"])
    return MessageBatch.from_arrow(table)
