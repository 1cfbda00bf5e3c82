"""Pipelines: steps one after the other, each of which says how documents change, and the runner that loses none."""
