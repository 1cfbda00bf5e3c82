"""Grids, stored results, and the scripts that measure the studies and the speed and write the
tables.

Every script runs as a module from the root of the repository: ``python -m
studies.speed.throughput``.
"""
