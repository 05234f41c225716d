"""What the indexes for nearness share: documents by term, distances, ids and what lists were."""
