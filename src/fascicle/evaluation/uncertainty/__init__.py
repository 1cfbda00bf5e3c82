"""Uncertainty of scores: intervals, and tests of whether two systems differ."""
