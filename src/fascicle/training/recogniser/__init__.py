"""How recognisers are trained."""
