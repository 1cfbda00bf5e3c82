"""Training: one engine, and a folder for each thing that is trained."""
