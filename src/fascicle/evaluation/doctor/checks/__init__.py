"""The checks of a corpus, and what they look at."""
