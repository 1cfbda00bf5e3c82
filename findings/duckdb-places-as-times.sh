#!/bin/sh
# Offsets or places that are written as start:end become times of the day.
#
# Version:  DuckDB 2.0.1
# Input:    a CSV file with a column span that has 1:30 and 2:45; the same with 1:30 and 2:75
# Expected: texts in both, as in a column that has one place above 59
# Observed: time(1, 30) and time(2, 45) in the first; texts in the second
# Source:   https://duckdb.org/docs/stable/data/csv/auto_detection: TIME is among the types that are tried
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check duckdb==2.0.1
cd "$folder"
env/bin/python - <<'END'
import datetime

import duckdb


def spans(*values):
    with open("spans.csv", "w", encoding="utf-8") as file:
        file.write("id,span\n" + "".join(f"{at},{value}\n" for at, value in enumerate(values)))
    return [row[0] for row in duckdb.sql("select span from read_csv('spans.csv')").fetchall()]


short, long = spans("1:30", "2:45"), spans("1:30", "2:75")
print(short, long)
assert short == [datetime.time(1, 30), datetime.time(2, 45)], "DuckDB has changed"
assert long == ["1:30", "2:75"], "DuckDB has changed"
END
