"""The engine under everything that trains."""
