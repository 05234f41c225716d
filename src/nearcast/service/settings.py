"""`Settings`: what an operator can choose, by file, by environment and by flag."""

from __future__ import annotations

import ipaddress
import math
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, get_type_hints

from nearcast.service.window import window_from

LOG_LEVELS = ("debug", "info", "warning", "error")
ENVIRONMENT_PREFIX = "NEARCAST_SERVICE_"
CONFIGURATION_VARIABLE = "NEARCAST_SERVICE_CONFIG"

_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def _setting(text: str, default: Any = MISSING, least: float | None = None) -> Any:
    """A field; `text` is its documentation, `least` the smallest number that makes sense."""
    return field(default=default, metadata={"text": text, "least": least})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each field is a key of the configuration file, `NEARCAST_SERVICE_FIELD` and `--field`.

    >>> Settings(data="here", port=70_000)
    Traceback (most recent call last):
    ValueError: port 70000 is above 65535; give a smaller one, or 0 for any free port
    """

    data: str = _setting("the folder that keeps everything; made when it is missing")
    host: str = _setting("the address to listen at", "127.0.0.1")
    port: int = _setting("the port to listen at; 0 is any free one", 8080, 0)
    master: str = _setting("where Spark runs, as Spark's own master setting", "local[*,4]")
    rows_per_batch: int = _setting("the most rows of the log in one batch of Spark", 20_000, 1)
    keep_hours: float = _setting("how long messages, events and dead letters are kept", 24.0, 0.01)
    keep_messages: int = _setting("the most messages that are kept", 1_000_000, 1)
    keep_events: int = _setting("the most events that are kept for delivery", 5_000_000, 1)
    largest_body: int = _setting("the most bytes of a request's body", 16_000_000, 1_000)
    longest_message: int = _setting("the most bytes of one message's JSON", 10_000, 1_000)
    longest_expression: int = _setting("the most letters of a subscription's keywords", 2_000, 1)
    most_polygon_points: int = _setting("the most points of a subscription's polygon", 1_000, 4)
    most_subscriptions: int = _setting("the most subscriptions of one subscriber", 200_000, 1)
    longest_list: int = _setting("the most messages or terms of a subscription's list", 100, 1)
    window: str = _setting(
        "which messages top-k lists are made of: the last 10000, or with an s of so many seconds",
        "10000",
    )
    farthest: float = _setting(
        "the distance in metres at which nearness is worth nothing to top-k lists", 50_000.0, 1.0
    )
    half_life: float = _setting(
        "seconds after which what was said counts half for trending terms", 3_600.0, 1.0
    )
    requests_per_second: float = _setting("the most requests of one token a second", 200.0, 0.1)
    messages_per_second: float = _setting(
        "the most messages of one token a second, and the most positions", 20_000.0, 0.1
    )
    webhook_seconds: float = _setting("how long a webhook's receiver may take to answer", 10.0, 0.1)
    webhook_attempts: int = _setting("how often a webhook is tried before parking events", 8, 1)
    webhook_private_addresses: bool = _setting(
        "may webhooks reach private and loopback addresses?", False
    )
    open_page: bool = _setting("may the page be used without a token? only on a loopback", False)
    tiles: str = _setting(
        "where the page gets map tiles; empty for none",
        "https://tile.openstreetmap.org/{z}/{x}/{y}.png",
    )
    log_level: str = _setting(f"the least to be logged: {', '.join(LOG_LEVELS)}", "info")

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            _check_kind(each.name, value)
            least = each.metadata["least"]
            if least is not None and not least <= value < math.inf:
                raise ValueError(f"{each.name} {value} is not {least} or more; give a larger one")
        if self.port > 65_535:
            raise ValueError(
                f"port {self.port} is above 65535; give a smaller one, or 0 for any free port"
            )
        if self.log_level not in LOG_LEVELS:
            raise ValueError(
                f"log_level {self.log_level!r} is unknown; give one of {', '.join(LOG_LEVELS)}"
            )
        window_from(self.window)
        if self.open_page and not _is_loopback(self.host):
            raise ValueError(
                f"open_page lets anybody in, and host {self.host!r} can be reached from elsewhere; "
                "leave out open_page, or listen at 127.0.0.1"
            )


def setting_fields() -> Iterator[Field[Any]]:
    """The fields in their order, for help and documentation: `metadata["text"]` says what for."""
    yield from fields(Settings)


def kind_of(name: str) -> type:
    """The type of a field."""
    kind: type = get_type_hints(Settings)[name]
    return kind


def load_settings(
    flags: Mapping[str, object],
    config: str | os.PathLike[str] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """From a TOML file, then the environment, then flags; the later ones win.

    `flags` that are None were not given. Texts are read as the field's type.

    >>> load_settings({"data": "here"}, environment={"NEARCAST_SERVICE_KEEP_HOURS": "2"}).keep_hours
    2.0
    """
    values: dict[str, object] = {}
    config = config or environment.get(CONFIGURATION_VARIABLE)
    if config:
        values |= _read_file(config)
    values |= _read_environment(environment)
    for name, value in flags.items():
        if value is not None:
            is_text = isinstance(value, str)
            values[name] = _from_text(name, value, name) if is_text else value  # type: ignore[arg-type]
    if not values.get("data"):
        raise ValueError(
            f"no data folder; give --data DIR, {ENVIRONMENT_PREFIX}DATA, or data in the "
            "configuration file"
        )
    return Settings(**values)  # type: ignore[arg-type]


def _read_environment(environment: Mapping[str, str]) -> dict[str, object]:
    known = {ENVIRONMENT_PREFIX + each.name.upper(): each.name for each in setting_fields()}
    found: dict[str, object] = {}
    for variable, text in environment.items():
        if variable in known:
            found[known[variable]] = _from_text(known[variable], text, variable)
        elif variable.startswith(ENVIRONMENT_PREFIX) and variable != CONFIGURATION_VARIABLE:
            raise ValueError(
                f"unknown variable {variable}; a setting is {ENVIRONMENT_PREFIX}PORT, for instance"
            )
    return found


def _read_file(config: str | os.PathLike[str]) -> dict[str, object]:
    with open(config, "rb") as file:
        try:
            found = tomllib.load(file)
        except ValueError as error:
            raise ValueError(f"{config} is not TOML: {error}") from None
    known = [each.name for each in setting_fields()]
    for name, value in found.items():
        if name not in known:
            raise ValueError(f"{config}: unknown key {name!r}; known: {', '.join(known)}")
        if kind_of(name) is float and type(value) is int:
            found[name] = float(value)
        try:
            _check_kind(name, found[name])
        except ValueError as error:
            raise ValueError(f"{config}: {error}") from None
    return found


def _from_text(name: str, text: str, source: str) -> object:
    kind = kind_of(name)
    if kind is bool:
        if text.lower() in _YES + _NO:
            return text.lower() in _YES
        raise ValueError(f"{source} {text!r} is neither true nor false; give one of them")
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"{source} {text!r} is not a {_WORDS[kind]}; give one") from None


_WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false"}


def _check_kind(name: str, value: object) -> None:
    kind = kind_of(name)
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise ValueError(f"{name} {value!r} is not a {_WORDS[kind]}; give one")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
