#!/bin/sh
# Two names of one species have only their genus in common, if one of them has a number that was merged.
#
# Version:  taxopy 0.14.0
# Input:    a taxonomy with Homo sapiens, 9606, and 9999 in merged.dmp as a number that was merged into it
# Expected: the common ancestor of 9999 and 9606 is Homo sapiens, as it is of 9606 and 9606
# Observed: Homo, as the taxon of 9999 has the name of 9606 and its own number, and is not equal to it
# Source:   https://ftp.ncbi.nlm.nih.gov/pub/taxonomy/taxdump_readme.txt: merged.dmp has the node that is the result of merging
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check taxopy==0.14.0
cd "$folder"
env/bin/python - <<'END'
from pathlib import Path

import taxopy

row = "{}\t|\t{}\t|\t{}\t|\t\t|\t8\t|\n"
ranks = (1, 1, "no rank"), (9605, 1, "genus"), (9606, 9605, "species")
Path("nodes.dmp").write_text("".join(row.format(*rank) for rank in ranks))
names = (1, "root"), (9605, "Homo"), (9606, "Homo sapiens")
Path("names.dmp").write_text("".join(f"{n}\t|\t{name}\t|\t\t|\tscientific name\t|\n" for n, name in names))
Path("merged.dmp").write_text("9999\t|\t9606\t|\n")
taxonomy = taxopy.TaxDb(nodes_dmp="nodes.dmp", names_dmp="names.dmp", merged_dmp="merged.dmp")
old, new = taxopy.Taxon(9999, taxonomy), taxopy.Taxon(9606, taxonomy)
common = taxopy.find_lca([old, new], taxonomy)
print(old.name, old.taxid, new.name, new.taxid, common.name)
assert old.name == new.name == "Homo sapiens" and old.taxid == 9999, "taxopy has changed"
assert common.name == "Homo", "taxopy has changed"
assert taxopy.find_lca([new, new], taxonomy).name == "Homo sapiens"
END
