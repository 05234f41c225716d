"""`nearcast serve` and `nearcast token`, as somebody types them; Spark is left out."""

import json
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import httpx
import pytest

from nearcast.cli import main
from nearcast.service.settings import setting_fields

WITHOUT_SPARK = """
import sys
from nearcast.cli import main
from nearcast.service.matching.supervisor import Supervisor
Supervisor.start = lambda self: self._note(state="running")
sys.exit(main())
"""


@contextmanager
def serving(*arguments):
    process = subprocess.Popen(
        [sys.executable, "-c", WITHOUT_SPARK, "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.thorough)]
)
def test_serve_says_what_it_does_and_ends_on_a_signal(tmp_path, number):
    with serving("--data", str(tmp_path / "data"), "--port", "0") as process:
        said = [process.stdout.readline() for _ in range(4)]
        assert said[0] == f"opening {tmp_path / 'data'}\n"
        secret = re.fullmatch("token of the admin, shown this once: (.+)\n", said[1])[1]
        address = re.fullmatch("ready at (.+)\n", said[3])[1]
        assert said[2].startswith(f"listening at {address}; starting Spark")
        answer = httpx.get(f"{address}/v1/tokens", headers={"Authorization": f"Bearer {secret}"})
        assert [each["name"] for each in answer.json()["tokens"]] == ["admin"]
        # The page is at / and must not answer for the API.
        assert httpx.patch(f"{address}/v1/tokens").json()["error"].startswith("PATCH /v1/tokens: ")
        assert httpx.get(f"{address}/v1/nothing").json()["error"].startswith("GET /v1/nothing: ")
        process.send_signal(number)
        out, log = process.communicate(timeout=120)
        assert process.returncode == 0
        assert out == "stopping\nstopped\n"
        lines = [json.loads(line) for line in log.splitlines()]
        assert any(line.get("path") == "/v1/tokens" for line in lines)
        assert secret not in log
    assert not (tmp_path / "data" / "address").exists()


def test_serve_for_machines_and_tokens_beside_it(tmp_path, capsys):
    data = str(tmp_path)
    assert main(["token", "create", "ann", "--role", "subscriber", "--data", data, "--json"]) == 0
    ann = json.loads(capsys.readouterr().out)
    with serving("--data", data, "--port", "0", "--json") as process:
        said = [json.loads(process.stdout.readline()) for _ in range(3)]
        assert [each.get("state") for each in said] == ["opening", "starting", "ready"]
        address = said[2]["address"]

        def status(secret):
            headers = {"Authorization": f"Bearer {secret}"}
            return httpx.get(f"{address}/v1/subscriptions", headers=headers).status_code

        assert status(ann["token"]) == 200  # there was a token, so no other was made
        assert main(["token", "create", "bob", "--role", "subscriber", "--data", data]) == 0
        bob = capsys.readouterr().out.splitlines()[0]
        assert status(bob) == 200
        assert main(["token", "revoke", ann["id"], "--data", data]) == 0
        assert status(ann["token"]) == 401
        capsys.readouterr()
        assert main(["serve", "--data", data, "--port", "0"]) == 1
        assert "is in use by another service; stop that one" in capsys.readouterr().err


def test_a_taken_port_is_one_line(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", "--data", str(tmp_path), "--port", port]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"port {port}" in error


def test_help_shows_every_setting(capsys):
    assert main(["serve", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for field in setting_fields():
        assert f"--{field.name.replace('_', '-')}" in text
        assert field.metadata["text"] in text


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "no data folder; give --data DIR"),
        (["--data", "x", "--port", "http"], "port 'http' is not a whole number"),
        (["--data", "x", "--config", "none.toml"], "none.toml"),
        (["--data", "x", "--open-page", "--host", "0.0.0.0"], "open_page lets anybody in"),
    ],
)
def test_bad_settings_are_one_line(arguments, reason, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NEARCAST_SERVICE_DATA", raising=False)
    assert main(["serve", *arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith("nearcast serve: ")
    assert reason in error
    assert error.count("\n") == 1


def test_tokens_are_listed_without_secrets(tmp_path, capsys):
    data = ["--data", str(tmp_path)]
    main(["token", "create", "ann", "--role", "subscriber", "--role", "publisher", *data])
    secret, about = capsys.readouterr().out.splitlines()
    assert about.endswith("for ann; it cannot be shown again")
    assert main(["token", "list", *data]) == 0
    listed = capsys.readouterr().out
    assert listed.endswith("  ann  publisher, subscriber\n")
    assert secret not in listed
    assert main(["token", "list", "--json", *data]) == 0
    [record] = json.loads(capsys.readouterr().out)
    assert (record["name"], record["roles"]) == ("ann", ["publisher", "subscriber"])


def test_token_refuses(tmp_path, capsys):
    data = ["--data", str(tmp_path)]
    assert main(["token", "create", "Ann Lee", "--role", "admin", *data]) == 1
    assert "name 'Ann Lee' is not allowed" in capsys.readouterr().err
    assert main(["token", "create", "ann", "--role", "king", *data]) == 2
    assert main(["token", "create", "ann", *data]) == 2
    capsys.readouterr()
    assert main(["token", "revoke", "none", *data]) == 1
    assert "there is no token 'none'" in capsys.readouterr().err
    assert main(["token", "list", "--data", str(tmp_path / "typo")]) == 1
    assert "is not there" in capsys.readouterr().err
    assert not (tmp_path / "typo").exists()
