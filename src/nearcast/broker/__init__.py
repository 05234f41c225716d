"""One object for one process: subscribe, move, unsubscribe, publish."""

from nearcast.broker.broker import Broker

__all__ = ["Broker"]
