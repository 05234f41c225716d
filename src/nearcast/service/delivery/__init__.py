"""How do events reach their readers?  In order, at least once, nobody waiting for anybody else."""
