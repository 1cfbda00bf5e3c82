"""Runs of a pipeline over any number of documents: shards, supervised workers, and a proof that
none was lost.
"""
