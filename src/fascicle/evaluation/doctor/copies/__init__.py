"""Search for texts that occur several times in a corpus, or in several corpora."""
