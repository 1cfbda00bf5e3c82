"""Whether scores of mentions tell how often they are right, and how to correct them."""
