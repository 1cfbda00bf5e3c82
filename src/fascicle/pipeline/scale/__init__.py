"""Runs on many machines; the only room that imports Ray (extra ``scale``)."""
