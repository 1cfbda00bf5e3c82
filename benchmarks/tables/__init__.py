"""Tables of the documentation, from ``benchmarks/results/``; ``python -m benchmarks.tables`` writes all of them."""
