"""Search for any number of names in texts, by a table in a file that all processes share."""
