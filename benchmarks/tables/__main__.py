"""Writes or checks every table of the documentation; see ``benchmarks/tables/pages.py``."""

import sys

from benchmarks.tables.pages import main

if __name__ == "__main__":
    sys.exit(main())
