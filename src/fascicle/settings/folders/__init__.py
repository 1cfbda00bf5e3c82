"""What model folders say of themselves, and which folder is meant."""
