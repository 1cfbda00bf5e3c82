"""From score tables to mentions, in numpy."""
