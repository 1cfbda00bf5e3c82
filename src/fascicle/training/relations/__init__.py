"""Training of finders of relations."""
