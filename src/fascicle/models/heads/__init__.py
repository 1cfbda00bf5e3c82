"""Heads: from states of units to score tables, targets and a loss."""
