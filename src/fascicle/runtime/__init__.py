"""Torch-free inference."""
