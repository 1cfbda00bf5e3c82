"""Finding any number of names in texts by a file that all processes share."""
