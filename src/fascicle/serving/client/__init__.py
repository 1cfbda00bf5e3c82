"""Clients of a service: what they ask, when they ask again, and what they make of the answers."""
