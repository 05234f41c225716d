"""Results that are spread over shards by what they ask for, not by the hashes of their ids.

Then a shard need not hear every message whole: of those that cannot concern it, it hears that they
have come (`bare.py`).
"""
