"""Keys of names: normalised spelling, the same for names and for texts."""
