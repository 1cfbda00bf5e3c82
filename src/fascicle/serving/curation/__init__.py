"""Decisions of curators about mentions: their meaning, their storage, and exports made from
them.
"""
