"""Readers of vocabularies in their published formats, each a stream of concepts."""
