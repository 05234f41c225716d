"""What is left of keepers when their stream ends."""

import os
import socket
import tempfile

from nearcast.pipeline.hosted.keepers import end_keepers

KEY = "0123456789abcdef"


def test_of_keepers_that_were_killed_only_what_they_said_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"nearcast-{os.getuid()}"
    folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(folder / f"{KEY}-0.sock"))
    (folder / f"{KEY}-0.log").touch()
    (folder / f"{KEY}-1.log").touch()  # its socket went first
    (folder / f"{KEY}-2.log").write_text("what was wrong")
    (folder / "another0another0-0.log").touch()
    end_keepers(KEY)
    assert sorted(path.name for path in folder.iterdir()) == [
        f"{KEY}-2.log",
        "another0another0-0.log",
        "lock",
    ]
