"""Term packs on gold: what a dictionary alone recognises."""
