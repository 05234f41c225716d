"""`Settings`: what an operator can choose, by file, by environment and by flag."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each field is a key of the configuration file, `NEARCAST_FIELD` and `--field`."""

    data: str
    host: str = "127.0.0.1"
    port: int = 8080
    master: str = "local[*,4]"
    rows_per_batch: int = 20_000
    keep_hours: float = 24.0
    keep_messages: int = 1_000_000
    keep_events: int = 5_000_000
    largest_body: int = 16_000_000
    longest_expression: int = 2_000
    most_polygon_points: int = 1_000
    most_subscriptions: int = 200_000
    requests_per_second: float = 200.0
    messages_per_second: float = 20_000.0
    webhook_seconds: float = 10.0
    webhook_attempts: int = 8
    webhook_private_addresses: bool = False
    open_page: bool = False
    tiles: str = "https://tile.openstreetmap.org/{z}/{x}/{y}.png"
    log_level: str = "info"
