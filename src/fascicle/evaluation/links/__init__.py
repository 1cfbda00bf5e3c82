"""Evaluation of links: measures with their uncertainty, and reasons for wrong links."""
