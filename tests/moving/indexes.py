"""Every index of the room, with settings under which a few subscriptions and messages are many."""

from nearcast.moving import ScanMoving, WordQuadtrees

INDEXES = {"ScanMoving": ScanMoving, "WordQuadtrees": WordQuadtrees}
