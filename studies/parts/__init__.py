"""One model over several corpora, each with types of its own."""
