"""What systems say: prediction files, corpora and models, read alike and put on the documents of the gold."""
