"""Dictionaries: reading them, and finding their names in texts."""
