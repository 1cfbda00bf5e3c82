"""Recipes of everything that trains, and the strict reader of TOML."""
