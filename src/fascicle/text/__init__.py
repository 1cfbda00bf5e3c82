"""Characters, words, pieces, sentences and windows."""
