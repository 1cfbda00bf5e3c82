"""Sequence variants in texts: how they are written, and their names in HGVS."""
