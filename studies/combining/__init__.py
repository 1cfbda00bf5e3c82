"""Systems combined by rules and filters: the choice on dev, scores on test, and tables."""
