"""Precision, recall and F1 under rules of matching."""
