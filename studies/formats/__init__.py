"""What readers make of corpora whose texts others have published too."""
