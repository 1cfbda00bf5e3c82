"""Corrections of vocabularies by hand: rules in a table, which are appended and never edited."""
