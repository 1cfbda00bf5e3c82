"""Text processing: characters, words, pieces, sentences and windows."""
