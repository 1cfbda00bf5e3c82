"""Keys of names: what of their spelling does not count, the same for names and for texts."""
