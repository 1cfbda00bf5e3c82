"""Vocabularies: their concepts and names, and dictionary matching of their names in texts."""
