"""The bi-encoder: weak and unseen types, partly right answers, and its tables."""
