import re
from dataclasses import MISSING
from pathlib import Path

import pytest

from nearcast.service.settings import Settings, load_settings, setting_fields

GUIDE = Path(__file__).parents[2] / "docs" / "service.md"
FIELDS = list(setting_fields())


@pytest.fixture
def config(tmp_path):
    def write(text):
        path = tmp_path / "nearcast.toml"
        path.write_text(text)
        return path

    return write


def test_a_flag_wins_over_a_variable_and_that_over_the_file(config):
    file = config('data = "file"\nport = 1\nkeep_hours = 2\nopen_page = true\n')
    environment = {"NEARCAST_SERVICE_PORT": "10", "NEARCAST_SERVICE_KEEP_EVENTS": "20"}
    found = load_settings({"port": "100", "host": None}, file, environment)
    assert (found.data, found.port, found.keep_events) == ("file", 100, 20)
    assert (found.keep_hours, found.open_page, found.host) == (2.0, True, "127.0.0.1")


def test_the_file_can_be_named_by_a_variable(config):
    environment = {"NEARCAST_SERVICE_CONFIG": str(config('data = "here"'))}
    assert load_settings({}, environment=environment).data == "here"


@pytest.mark.parametrize(("text", "value"), [("yes", True), ("TRUE", True), ("0", False)])
def test_a_choice_as_text(text, value):
    environment = {"NEARCAST_SERVICE_OPEN_PAGE": text}
    assert load_settings({"data": "x"}, environment=environment).open_page is value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("prot = 1", "unknown key 'prot'; known: data, host, port"),
        ("port = '80'", "port '80' is not a whole number"),
        ("port = true", "port True is not a whole number"),
        ("port = 1.5", "port 1.5 is not a whole number"),
        ("host = 1", "host 1 is not a text"),
        ("open_page = 1", "open_page 1 is not a true or false"),
        ("port", "is not TOML"),
        ("[port]\na = 1", "port {'a': 1} is not a whole number"),
    ],
)
def test_a_bad_file(config, text, reason):
    with pytest.raises(ValueError, match=re.escape(reason)) as error:
        load_settings({"data": "x"}, config(text), {})
    assert "nearcast.toml" in str(error.value)


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("NEARCAST_SERVICE_PORT", "http", "NEARCAST_SERVICE_PORT 'http' is not a whole number"),
        ("NEARCAST_SERVICE_KEEP_HOURS", "long", "KEEP_HOURS 'long' is not a number"),
        ("NEARCAST_SERVICE_OPEN_PAGE", "maybe", "OPEN_PAGE 'maybe' is neither true nor false"),
        ("NEARCAST_SERVICE_PROT", "80", "unknown variable NEARCAST_SERVICE_PROT"),
    ],
)
def test_a_bad_variable(variable, value, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        load_settings({"data": "x"}, environment={variable: value})


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"port": -1}, "port -1 is not 0 or more"),
        ({"port": 65_536}, "port 65536 is above 65535"),
        ({"keep_hours": 0.0}, "keep_hours 0.0 is not 0.01 or more"),
        ({"keep_hours": float("nan")}, "keep_hours nan"),
        ({"keep_hours": float("inf")}, "keep_hours inf"),
        ({"most_polygon_points": 3}, "most_polygon_points 3 is not 4 or more"),
        ({"log_level": "loud"}, "log_level 'loud' is unknown; give one of debug"),
    ],
)
def test_a_value_that_makes_no_sense(values, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        Settings(data="x", **values)


def test_data_is_needed():
    with pytest.raises(ValueError, match="no data folder; give --data"):
        load_settings({}, environment={})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com", "127.0.0.1.nip.io"])
def test_the_open_page_stays_at_home(host):
    Settings(data="x", host=host)
    with pytest.raises(ValueError, match="open_page lets anybody in"):
        Settings(data="x", host=host, open_page=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_at_home_the_page_may_be_open(host):
    assert Settings(data="x", host=host, open_page=True).open_page


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_every_setting_is_in_the_guide(field):
    default = "" if field.default is MISSING else field.default
    shown = {True: "true", False: "false"}.get(default, default) if default is not None else ""
    row = f"| `{field.name}` | {f'`{shown}`' if default != '' else 'none: give it'} | "
    assert row + field.metadata["text"] in GUIDE.read_text(), f"add to docs/service.md: {row}"
