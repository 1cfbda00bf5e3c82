"""What finders of relations find; ``plan.md``."""
