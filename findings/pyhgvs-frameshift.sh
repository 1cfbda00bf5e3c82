#!/bin/sh
# A frame shift and a lost start are read as changes of an amino acid to itself.
#
# Version:  pyhgvs 0.11.1
# Input:    p.Arg97fs, p.Met1? and p.Glu23=, of which the last alone leaves the protein as it is
# Expected: three kinds of change
# Observed: the same for all three: '>' from an amino acid to the same one
# Source:   https://hgvs-nomenclature.org: fs is a frame shift, and Met1? an unknown effect on the start
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check pyhgvs==0.11.1
cd "$folder"
env/bin/python - <<'END'
from pyhgvs import HGVSName

told = {}
for change in ("Arg97fs", "Met1?", "Glu23=", "Trp24Ter"):
    name = HGVSName(f"NP_1.2:p.{change}")
    told[change] = name.mutation_type, name.ref_allele, name.alt_allele
print(told)
assert told == {
    "Arg97fs": (">", "Arg", "Arg"),
    "Met1?": (">", "Met", "Met"),
    "Glu23=": (">", "Glu", "Glu"),
    "Trp24Ter": (">", "Trp", "Ter"),
}, "pyhgvs has changed"
END
