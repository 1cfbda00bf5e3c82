"""Training of learned filters."""
