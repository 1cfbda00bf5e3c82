"""Abbreviations that a text defines: pairs of short form and long form."""
