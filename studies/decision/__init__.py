"""The decision of documents: what it is fitted on, how, and what it gives on texts that taught
nothing.
"""
