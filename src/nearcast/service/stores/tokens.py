"""`Tokens`: who may do what.  A token is shown once and kept as a hash."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass

from nearcast.pipeline.log.database import Database

PUBLISHER, SUBSCRIBER, ADMIN = ROLES = ("publisher", "subscriber", "admin")

TOKEN_TABLES = (
    """CREATE TABLE tokens
       (hash TEXT PRIMARY KEY, id TEXT UNIQUE NOT NULL, name TEXT NOT NULL, roles TEXT NOT NULL,
        created REAL NOT NULL)""",
)

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_PREFIX = "nearcast_"


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token, all but the token.

    - `id`: to speak of it
    - `name`: whom it stands for; the owner of what is done with it
    """

    id: str
    name: str
    roles: frozenset[str]
    created: float

    def may(self, role: str) -> bool:
        """An admin may do everything."""
        return role in self.roles or ADMIN in self.roles


class Tokens:
    """The tokens of a service, in the database of its registry."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, name: str, roles: Iterable[str]) -> tuple[Token, str]:
        """A new token and its secret, which nobody can tell again."""
        wanted = sorted(set(roles))
        for role in wanted:
            if role not in ROLES:
                raise ValueError(f"role {role!r} is unknown; give one of {', '.join(ROLES)}")
        if not wanted:
            raise ValueError(f"token for {name!r} has no role; give one of {', '.join(ROLES)}")
        secret = _PREFIX + secrets.token_urlsafe(32)
        token = Token(
            secrets.token_hex(4), checked_name(name), frozenset(wanted), round(time.time(), 3)
        )
        row = _hash(secret), token.id, token.name, " ".join(wanted), token.created
        with self._database.writing() as connection:
            connection.execute("INSERT INTO tokens VALUES (?, ?, ?, ?, ?)", row)
        return token, secret

    def find(self, secret: str) -> Token | None:
        """Whose secret is this?  The hash is looked up, so that time tells nothing of others."""
        query = "SELECT id, name, roles, created FROM tokens WHERE hash = ?"
        with self._database.reading() as connection:
            row = connection.execute(query, (_hash(secret),)).fetchone()
        return None if row is None else _token(row)

    def all(self) -> list[Token]:
        """All of them, oldest first."""
        query = "SELECT id, name, roles, created FROM tokens ORDER BY rowid"
        with self._database.reading() as connection:
            return [_token(row) for row in connection.execute(query)]

    def revoke(self, id: str) -> bool:
        """End a token at once; False if there is none of this id."""
        with self._database.writing() as connection:
            return connection.execute("DELETE FROM tokens WHERE id = ?", (id,)).rowcount > 0


def checked_name(name: object) -> str:
    """A name that is safe in ids, addresses and logs.

    >>> checked_name("Ann Lee")
    Traceback (most recent call last):
    ValueError: name 'Ann Lee' is not allowed; use up to 64 of a-z, 0-9, '.', '_' and '-'
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"name {name!r} is not allowed; use up to 64 of a-z, 0-9, '.', '_' and '-'"
        )
    return name


def _token(row: tuple[str, str, str, float]) -> Token:
    id, name, roles, created = row
    return Token(id, name, frozenset(roles.split()), created)


def _hash(secret: str) -> str:
    # A plain hash is enough: a secret has 256 random bits, there is nothing to guess.
    return hashlib.sha256(secret.encode()).hexdigest()
