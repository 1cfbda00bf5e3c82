"""Corpora with wrong labels, and curves of what they cost."""
