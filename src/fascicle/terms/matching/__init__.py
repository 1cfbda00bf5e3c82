"""Dictionaries of typed names as tables, and exact matching of their names in text, word by word."""
