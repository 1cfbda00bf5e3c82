"""Static word vectors, one for each word independent of its context: reading, memory mapping, GloVe."""
