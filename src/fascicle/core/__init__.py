"""Spans, mentions, documents, tag schemes and their JSON codec."""
