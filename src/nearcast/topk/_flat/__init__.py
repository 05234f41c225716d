"""What indexes share that keep the window and the lists in flat arrays."""
