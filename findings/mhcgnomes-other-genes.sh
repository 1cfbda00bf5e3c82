#!/bin/sh
# A cell line is an allele of HLA, a ligand of T cells a serotype, and complement a gene of a marmoset.
#
# Version:  mhcgnomes 3.67.0
# Input:    K562 (a line of leukaemia cells), B7-1 (a synonym of CD80) and C3 (complement), beside A549, CD4 and C4A
# Expected: an error, as for A549, CD4 and C4A: none of them is of the MHC
# Observed: HLA-K*562, HLA-B71 and Coja-C3; the default is an error for what is no name of the MHC
# Source:   https://github.com/pirl-unc/mhcgnomes: it parses MHC nomenclature in the wild
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check --no-deps mhcgnomes==3.67.0 PyYAML==6.0.4
cd "$folder"
env/bin/python - <<'END'
import mhcgnomes


def seen(name):
    try:
        return mhcgnomes.parse(name).to_string()
    except mhcgnomes.ParseError:
        return None


names = {name: seen(name) for name in ("K562", "B7-1", "C3", "A549", "CD4", "C4A")}
print(names)
assert list(names.values()) == ["HLA-K*562", "HLA-B71", "Coja-C3", None, None, None], "it has changed"
END
