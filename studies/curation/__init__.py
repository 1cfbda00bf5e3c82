"""What the order of uncertainty is worth to a curator."""
