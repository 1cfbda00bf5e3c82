"""Training of span typers."""
