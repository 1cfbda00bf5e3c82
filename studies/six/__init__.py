"""Small models of six types: every row of the paper and beside it, what ships, and the dial of
sizes.
"""
