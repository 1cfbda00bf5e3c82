#!/bin/sh
# Val600Glu is a change of three amino acids, V, A and L; a frame shift is a change to F and S.
#
# Version:  protein-variant-nomenclature-parser 0.5.0
# Input:    BRAF V600E, BRAF Val600Glu and APC E1309fs; BRAF p.V600E
# Expected: the same parse of the first two, a frame shift, and the same again with p.
# Observed: VAL to GLU and E to FS, as letters of amino acids; p. is refused
# Source:   https://hgvs-nomenclature.org: Val is valine, fs is a frame shift, and p. stands before changes of a protein
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check protein-variant-nomenclature-parser==0.5.0
cd "$folder"
env/bin/python - <<'END'
from protein_variant_nomenclature_parser.parser import InvalidProteinVariantError, parse

seen = [parse(text) for text in ("BRAF V600E", "BRAF Val600Glu", "APC E1309fs")]
print(seen)
assert [(variant.ref, variant.alt) for variant in seen] == [("V", "E"), ("VAL", "GLU"), ("E", "FS")], "it has changed"
try:
    parse("BRAF p.V600E")
except InvalidProteinVariantError as error:
    print(error)
else:
    raise AssertionError("it has changed")
END
