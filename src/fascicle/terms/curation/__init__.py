"""Manual corrections of vocabularies: rules in a table, which are appended and never edited."""
