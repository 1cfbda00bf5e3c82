"""Trained models as folders that run without torch."""
