"""``python -m fascicle`` is the command ``fascicle``."""

from __future__ import annotations

import sys

from fascicle.cli import process

if __name__ == "__main__":
    sys.exit(process())
