"""Torch modules that know tensors, not documents."""
