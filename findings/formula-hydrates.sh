#!/bin/sh
# The water of a hydrate is dropped, or becomes part of a number, in two parsers of chemical formulas.
#
# Version:  chemparse 0.3.2, parse_formula; chemformula 1.5.1, ChemFormula; beside molmass 2026.1.8
# Input:    NaBO3·4H2O, as IUPAC writes hydrates; CuSO4.5H2O, as databases write them
# Expected: H8BNaO7; CuH10O9S with a weight of 249.68, as molmass has for both; or an error
# Observed: chemparse has BNaO3 for the first, without its water, and 4.5 O for the second;
#           chemformula refuses the first, and has 46 O and a weight of 833.58 for the second
# Source:   IUPAC, Nomenclature of Inorganic Chemistry 2005, IR-4.4.3.5: addition compounds have a centred dot
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check chemparse==0.3.2 chemformula==1.5.1 molmass==2026.1.8
cd "$folder"
env/bin/python - <<'END'
import chemparse
import molmass
from chemformula import ChemFormula

borate, sulfate = "NaBO3·4H2O", "CuSO4.5H2O"
parsed = [chemparse.parse_formula(formula) for formula in (borate, sulfate)]
print(*parsed)
assert parsed[0] == {"Na": 1, "B": 1, "O": 3}, "chemparse has changed"
assert parsed[1] == {"Cu": 1, "S": 1, "O": 5.5, "H": 2}, "chemparse has changed"

blue = ChemFormula(sulfate)
print(dict(blue.element), round(blue.formula_weight, 2))
assert blue.element["O"] == 46 and round(blue.formula_weight, 2) == 833.58, "chemformula has changed"

for formula, right in (("NaBO3.4H2O", "BH8NaO7"), (sulfate, "CuH10O9S")):
    assert molmass.Formula(formula).formula == right, "molmass has changed"
END
