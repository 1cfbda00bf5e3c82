"""Batches, the training loop, run folders."""
