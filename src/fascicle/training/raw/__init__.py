"""Raw text, as training reads it: which documents, and windows of pieces made of them."""
