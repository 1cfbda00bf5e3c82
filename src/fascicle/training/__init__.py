"""Training: one engine, and a folder for each kind of model."""
