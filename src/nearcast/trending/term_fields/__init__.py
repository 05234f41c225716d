"""`TermFields`, alone and on two cores, and its kernels."""

from nearcast.trending.term_fields.index import TermFields
from nearcast.trending.term_fields.parallel import ParallelTermFields

__all__ = ["ParallelTermFields", "TermFields"]
