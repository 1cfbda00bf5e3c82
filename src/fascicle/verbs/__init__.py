"""Commands of ``fascicle``, one file each; ``fascicle/cli.py`` is their table."""
