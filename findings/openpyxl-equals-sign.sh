#!/bin/sh
# A text that begins with = is written as a formula, and then has no value.
#
# Version:  openpyxl 3.1.5
# Input:    a cell with the str '=N-acetylcysteine'
# Expected: a cell of text, which Python's type says; or an error
# Observed: a cell of the type formula; load_workbook(data_only=True) reads None
# Source:   ECMA-376 part 1, 18.18.11 (ST_CellType): s and str are texts, f is a formula
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check openpyxl==3.1.5
cd "$folder"
env/bin/python - <<'END'
import openpyxl

book = openpyxl.Workbook()
book.active["A1"] = "=N-acetylcysteine"
book.save("a.xlsx")
formula = openpyxl.load_workbook("a.xlsx").active["A1"]
value = openpyxl.load_workbook("a.xlsx", data_only=True).active["A1"].value
print(formula.data_type, formula.value, value)
assert (formula.data_type, value) == ("f", None), "openpyxl has changed"
END
