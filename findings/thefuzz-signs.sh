#!/bin/sh
# The best match of a name is another name, with full marks, although the name itself is in the list.
#
# Version:  thefuzz 0.22.1
# Input:    extractOne of CD4-, in a list of CD4+ and CD4-
# Expected: CD4-, which is equal
# Observed: CD4+ with 100, as all signs become blanks before names are compared, and the first of the best is the answer
# Source:   https://github.com/seatgeek/thefuzz: extractOne finds the single best match; fuzz.ratio of the two is 75
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check thefuzz==0.22.1
cd "$folder"
env/bin/python - <<'END'
from thefuzz import fuzz, process

best = process.extractOne("CD4-", ["CD4+", "CD4-"])
print(best, fuzz.ratio("CD4-", "CD4+"))
assert best == ("CD4+", 100), "thefuzz has changed"
assert fuzz.ratio("CD4-", "CD4+") == 75, "thefuzz has changed"
END
