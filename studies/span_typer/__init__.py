"""The span typer: its scores, pictures and tables."""
