"""Checks for errors in a corpus: checks over its parts, and copies of its texts in other
corpora.
"""
