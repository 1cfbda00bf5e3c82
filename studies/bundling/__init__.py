"""Two heads on one encoder: gains, gradients, unknown words, and tables."""
