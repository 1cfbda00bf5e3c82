#!/bin/sh
# Concentrations become lengths: micromolar is read as micrometre, and molar as metre.
#
# Version:  quantulum3 0.10.0, without the optional classifier
# Input:    10 µM, 1 M NaCl, 5 mg/kg
# Expected: concentrations in moles per litre, or no quantity
# Observed: 10 micrometre and 1 metre, without a word; mg/kg is right
# Source:   https://www.bipm.org/en/publications/si-brochure: m is the metre, and M no unit of length; M is the usual sign of mol/L
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check quantulum3==0.10.0
cd "$folder"
env/bin/python - <<'END'
from quantulum3 import parser

read = {}
for text in ("10 µM", "1 M NaCl", "5 mg/kg"):
    (quantity,) = parser.parse(text)
    read[text] = (quantity.value, quantity.unit.name)
print(read)
assert read == {
    "10 µM": (10.0, "micrometre"),
    "1 M NaCl": (1.0, "metre"),
    "5 mg/kg": (5.0, "milligram per kilogram"),
}, "quantulum3 has changed"
END
