"""`WordLists` (in `index`) and its kernels."""
