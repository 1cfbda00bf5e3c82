"""Training of recognisers."""
