"""Weak labels of raw text."""
