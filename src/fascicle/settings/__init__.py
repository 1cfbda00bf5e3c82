"""All settings: those of recipes, and those stored in model folders."""
