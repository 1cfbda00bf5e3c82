"""The study of sequence variants: what is found in texts, and which HGVS names are given."""
