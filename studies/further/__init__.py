"""What thirty documents of one's own add to a model that ships."""
