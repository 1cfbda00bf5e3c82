"""Pipelines as a service: HTTP in front, supervised workers behind, and an answer for each document."""
