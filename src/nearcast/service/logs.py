"""The log of a service: one JSON object a line, on standard error, without secrets."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

FIELDS = ("request_id", "method", "path", "status", "milliseconds", "token_id")
"""What a request adds; its query and headers may hold secrets and are left out."""

TALKATIVE = ("httpx", "httpcore", "py4j", "engineio", "socketio", "asyncio", "websockets")
"""Libraries whose small talk is not for operators, and may quote headers."""


class JsonLines(logging.Formatter):
    """A record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {
            name: getattr(record, name)
            for name in FIELDS
            if getattr(record, name, None) is not None
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line)


def log_to_stderr(level: str) -> None:
    """Everything from `level` on goes to standard error, of this process from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("uvicorn").setLevel(max(logging.WARNING, logging.root.level))
