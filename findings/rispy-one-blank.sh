#!/bin/sh
# RIS with one blank before the dash, as some sites write it, is an empty file without a word.
#
# Version:  rispy 0.10.0
# Input:    TY - JOUR, TI - A, ER - (one blank where the specification has two)
# Expected: the reference, or an error that names the line
# Observed: an empty list; rispy says nothing
# Source:   https://en.wikipedia.org/wiki/RIS_(file_format): two letters, two spaces and a hyphen
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check rispy==0.10.0
cd "$folder"
env/bin/python - <<'END'
import rispy

narrow = rispy.loads("TY - JOUR\nTI - A\nER - \n")
wide = rispy.loads("TY  - JOUR\nTI  - A\nER  - \n")
print("one blank:", narrow, "two blanks:", wide)
assert (narrow, len(wide)) == ([], 1), "rispy has changed"
END
