"""An encoder that reads raw text: recipes, plan and records."""
