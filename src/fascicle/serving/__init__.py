"""Pipelines as a service: HTTP in front, supervised workers behind, and a response for each
document.
"""
