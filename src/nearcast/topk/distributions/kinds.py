"""The distributions by their names, the simplest first."""

from nearcast.topk.distributions.by_hash import ByHash
from nearcast.topk.distributions.by_keyword import ByKeyword
from nearcast.topk.distributions.by_location import ByLocation
from nearcast.topk.distributions.by_prefix import ByPrefix
from nearcast.topk.distributions.distribution import Distribution

KINDS: dict[str, type[Distribution]] = {
    kind.name: kind for kind in (ByHash, ByLocation, ByKeyword, ByPrefix)
}
