"""Scores of predictions against gold, as numbers only."""
