"""Every index of the room, with settings under which a few subscriptions and messages are many."""

from nearcast.moving import ScanMoving

INDEXES = {"ScanMoving": ScanMoving}
