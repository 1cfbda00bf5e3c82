#!/bin/sh
# Preprints, data sets and software of a bibliography are left out, as their types are not those of BibTeX in 1988.
#
# Version:  bibtexparser 1.4.4
# Input:    entries of the types article, online, dataset and software, as Zotero and reference managers write them for biblatex
# Expected: four entries
# Observed: one entry, the article; a line of the log for each of the others
# Source:   https://ctan.org/pkg/biblatex, "Entry Types": @online, @dataset and @software are among the regular ones
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check bibtexparser==1.4.4
cd "$folder"
env/bin/python - <<'END'
import bibtexparser
from bibtexparser.bparser import BibTexParser

text = """
@article{a, title = {Gout}}
@online{b, title = {A preprint on gout}}
@dataset{c, title = {Patients with gout}}
@software{d, title = {A finder of gout}}
"""
usual = [entry["ID"] for entry in bibtexparser.loads(text).entries]
parser = BibTexParser(ignore_nonstandard_types=False)
chosen = [entry["ID"] for entry in bibtexparser.loads(text, parser).entries]
print("by default:", usual, "on request:", chosen)
assert (usual, chosen) == (["a"], ["a", "b", "c", "d"]), "bibtexparser has changed"
END
