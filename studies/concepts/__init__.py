"""What concepts are worth with what ships; see ``plan.md``."""
