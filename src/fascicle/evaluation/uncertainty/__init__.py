"""How sure a score is, and whether two systems differ."""
