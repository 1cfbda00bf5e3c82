"""Decisions about mentions at the level of documents: ordered edges, thresholds by type, names marked throughout."""
