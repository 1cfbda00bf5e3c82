"""Several systems to one: aligned by document, type and spans, and joined by a rule."""
