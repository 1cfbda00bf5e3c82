"""Grids: many training runs, one results file for each."""
