"""What the R-trees of the room share: an R-tree whose nodes know the words below them."""
