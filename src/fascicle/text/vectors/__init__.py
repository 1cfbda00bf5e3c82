"""Static word vectors: one row for each word, whatever stands around it. Reading, memory-mapping, GloVe."""
