"""How span typers are trained."""
