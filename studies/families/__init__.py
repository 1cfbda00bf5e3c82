"""Families of heads compared by mention and by class of error."""
