"""Sentences written for a test of names: chemistry and clinical notes."""
