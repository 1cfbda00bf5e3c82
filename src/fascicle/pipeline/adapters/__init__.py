"""Programs of others as steps: one file each, found by entry points of the group ``fascicle.steps``."""
