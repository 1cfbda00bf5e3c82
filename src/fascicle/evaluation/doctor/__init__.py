"""What is wrong with a corpus: checks over its parts, and copies of its texts in other corpora."""
