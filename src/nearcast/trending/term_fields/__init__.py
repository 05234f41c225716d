"""`TermFields` and its kernels."""

from nearcast.trending.term_fields.index import TermFields

__all__ = ["TermFields"]
