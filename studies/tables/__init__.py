"""Tables of the documentation, from ``studies/results/``; ``python -m studies.tables`` writes
all of them.
"""
