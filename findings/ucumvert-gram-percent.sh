#!/bin/sh
# Haemoglobin of 14 g% is 0.14 g, and 1 Cal of food is 1 calorie.
#
# Version:  ucumvert 0.3.2, with the ucum-essence.xml that it contains
# Input:    the units g% (gram percent, g/dl) and [Cal] (calories on labels of food, kcal) of UCUM
# Expected: 14 g/dl, and 4.184 kJ
# Observed: grams times percent, which is no concentration; and 4.184 J, a thousandth
# Source:   https://ucum.org/ucum, tables of other units: g% is 1 g/dl, and [Cal] is 1 kcal_th
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check ucumvert==0.3.2
cd "$folder"
env/bin/python - <<'END'
from ucumvert import PintUcumRegistry

units = PintUcumRegistry()
haemoglobin = 14 * units.from_ucum("g%")
energy = units.from_ucum("[Cal]").to("joule")
print(haemoglobin.to("gram"), haemoglobin.dimensionality, energy)
assert round(haemoglobin.to("gram").magnitude, 6) == 0.14, "ucumvert has changed"
assert round(energy.magnitude, 3) == 4.184, "ucumvert has changed"
assert round(units.from_ucum("kcal_th").to("joule").magnitude) == 4184, "ucumvert has changed"
END
