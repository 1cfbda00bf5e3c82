"""Masked language modelling on raw text."""
