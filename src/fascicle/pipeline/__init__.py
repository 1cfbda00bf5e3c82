"""Pipelines: steps in sequence, each of which returns patches to documents, and the runner that
loses no document.
"""
