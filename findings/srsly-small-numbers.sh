#!/bin/sh
# A probability below a thousand millionth is written as 0, and others lose digits.
#
# Version:  srsly 2.5.6, which spaCy uses to write JSON
# Input:    3e-12, 0.12345678901234567 and 5e-324 as JSON
# Expected: the same numbers again, as from the module json of Python
# Observed: 0.0 and 0.123456789 are written; 5e-324 is read as 0.0
# Source:   https://github.com/explosion/srsly: json_dumps serialises an object to JSON; no digits are said to be lost
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check srsly==2.5.6
cd "$folder"
env/bin/python - <<'END'
import json

import srsly

numbers = [3e-12, 0.12345678901234567]
print(srsly.json_dumps(numbers), srsly.json_loads("[5e-324]"))
assert json.loads(json.dumps(numbers)) == numbers
assert srsly.json_dumps(numbers) == "[0.0,0.123456789]", "srsly has changed"
assert srsly.json_loads("[5e-324]") == [0.0], "srsly has changed"
END
