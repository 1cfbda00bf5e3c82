"""Abbreviations that a text defines: where short forms get their long forms."""
