"""Recipes of everything that is trained, and the strict reader of TOML."""
