"""Raw text for training: its documents, and windows of pieces made of them."""
