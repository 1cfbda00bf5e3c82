"""Template of HTML reports."""
