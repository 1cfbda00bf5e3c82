"""Vocabularies: what they say, and finding their names in texts."""
