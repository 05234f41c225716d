"""What has been said, in one order, safe on this machine's disk: the embedded log.

`Log` needs no Spark; `nearcast.pipeline.log.source` reads it as a stream.
"""

from nearcast.pipeline.log.log import Log
from nearcast.pipeline.log.schema import LOG_SCHEMA, log_schema

__all__ = ["LOG_SCHEMA", "Log", "log_schema"]
