"""Training data of the grid of encoders."""
