"""Keyword orders as settings of a saved index."""

from __future__ import annotations

from nearcast.text.order import Idf, Random, TermOrder, Tf

Setting = list[str | int | None]


def check_saveable(order: TermOrder) -> None:
    """Refuse an order that a file cannot name."""
    if not isinstance(order, Tf | Idf | Random):
        raise TypeError(f"order {order!r} cannot be saved; use Tf(), Idf() or Random(seed)")


def order_setting(order: TermOrder) -> Setting:
    """What `order_from` makes the same order of."""
    return [type(order).__name__, getattr(order, "seed", None)]


def order_from(setting: Setting) -> TermOrder:
    """The order that was saved."""
    name, seed = setting
    if isinstance(seed, int):
        return Random(seed)
    return Tf() if name == "Tf" else Idf()
