"""Scores of predictions against gold."""
