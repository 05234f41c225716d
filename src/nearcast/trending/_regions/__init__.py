"""What indexes for lists of regions share: documents, places, rows of terms."""
