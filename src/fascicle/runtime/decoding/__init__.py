"""Decoders from score tables to spans: one record for each kind of head."""
