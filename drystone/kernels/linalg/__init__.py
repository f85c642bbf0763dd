"""Linear algebra of solvers: dense, sparse in blocks, in an envelope, modulo primes."""
