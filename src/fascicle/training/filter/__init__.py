"""How learned filters are trained."""
