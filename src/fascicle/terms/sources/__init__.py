"""Vocabularies in the forms that their makers publish, each read as a stream of concepts."""
