"""Outputs of their own for guidelines that clash, and the documents that no model of them learns
from.
"""
