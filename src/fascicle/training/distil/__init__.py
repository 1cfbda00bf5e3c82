"""Distillation: small networks learn the output of large ones."""
