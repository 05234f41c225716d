"""The MBRTrie of Yu, Li and Feng (CIKM 2015), in flat arrays; `_layout` draws them."""

from nearcast.boolean.mbr_trie.policies import CostBasedProbe, ProbeTokenSet, ProbeTrie, Probing
from nearcast.boolean.mbr_trie.trie import MBRTrie

__all__ = ["CostBasedProbe", "MBRTrie", "ProbeTokenSet", "ProbeTrie", "Probing"]
