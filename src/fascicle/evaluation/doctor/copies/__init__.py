"""Texts that stand in several places of a corpus, or of several corpora."""
