"""What gold has that labels of units cannot keep apart."""
