"""Writes or checks every table of the documentation; see ``studies/tables/pages.py``."""

import sys

from studies.tables.pages import main

if __name__ == "__main__":
    sys.exit(main())
