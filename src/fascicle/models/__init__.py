"""NerModel, its heads and families, checkpoints and export."""
