"""The study of abbreviations: the finder, and rules that change mentions."""
