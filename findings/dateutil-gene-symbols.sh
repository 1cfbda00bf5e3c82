#!/bin/sh
# Symbols of genes, a hormone and a stage of a tumour are dates, so that a column that "parses as dates" may be one of genes.
#
# Version:  python-dateutil 4.0.0
# Input:    SEPT9, DEC1, OCT4, MAR10, T4 (thyroxine, or a stage), CD4
# Expected: an error for all, at least where no month is named
# Observed: dates for all but CD4; T4 is the fourth day of the month
# Source:   https://dateutil.readthedocs.io/en/stable/parser.html: "T" divides a date from a time
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check python-dateutil==4.0.0
cd "$folder"
env/bin/python - <<'END'
from datetime import datetime

from dateutil import parser

start = datetime(2026, 6, 15)
read = {}
for symbol in ("SEPT9", "DEC1", "OCT4", "MAR10", "T4", "CD4"):
    try:
        read[symbol] = f"{parser.parse(symbol, default=start):%m-%d}"
    except parser.ParserError:
        read[symbol] = "no date"
print(read)
assert read == {
    "SEPT9": "09-09",
    "DEC1": "12-01",
    "OCT4": "10-04",
    "MAR10": "03-10",
    "T4": "06-04",
    "CD4": "no date",
}, "dateutil has changed"
END
