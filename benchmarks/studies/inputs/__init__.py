"""Dictionaries and case patterns as inputs of recognisers."""
