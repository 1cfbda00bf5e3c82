"""How right links are: figures with their uncertainty, and why links are wrong."""
