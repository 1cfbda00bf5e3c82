"""Predictions of systems: prediction files, corpora and models, read alike and aligned to the
documents of the gold.
"""
