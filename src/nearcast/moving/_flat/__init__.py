"""What the indexes of the room that keep flat arrays have in common."""
