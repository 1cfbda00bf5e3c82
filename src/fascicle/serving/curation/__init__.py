"""Decisions of curators about mentions: what they mean, where they are kept, and what is made of them."""
