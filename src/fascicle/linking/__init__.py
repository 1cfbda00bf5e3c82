"""Entity linking, from mentions to concepts: candidates by tier, one ranker, and NIL if no
concept fits.
"""
