import pytest

from nearcast.service.stores.registry import open_registry
from nearcast.service.stores.tokens import Tokens


@pytest.fixture
def tokens(folder):
    registry = open_registry(folder)
    yield Tokens(registry)
    registry.close()


def test_a_secret_finds_its_token(tokens):
    token, secret = tokens.create("ann", ["subscriber", "publisher"])
    other, _ = tokens.create("ann", ["admin"])
    assert tokens.find(secret) == token
    assert tokens.find(secret + "x") is None
    assert tokens.all() == [token, other]
    assert token.may("subscriber")
    assert not token.may("admin")
    assert other.may("publisher")  # an admin may everything


def test_no_secret_is_on_the_disk(tokens, folder):
    _, secret = tokens.create("ann", ["subscriber"])
    for path in folder.path.rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()


def test_a_revoked_token_is_unknown_at_once(tokens):
    token, secret = tokens.create("ann", ["subscriber"])
    assert tokens.revoke(token.id)
    assert not tokens.revoke(token.id)
    assert tokens.find(secret) is None


@pytest.mark.parametrize("name", ["", "Ann", "a/b", "-a", "a" * 65, "a\n", 7])
def test_bad_names_are_refused(tokens, name):
    with pytest.raises(ValueError, match=r"name .* is not allowed"):
        tokens.create(name, ["subscriber"])
    assert not tokens.all()


def test_bad_roles_are_refused(tokens):
    with pytest.raises(ValueError, match="role 'king' is unknown"):
        tokens.create("ann", ["king"])
    with pytest.raises(ValueError, match="has no role"):
        tokens.create("ann", [])
