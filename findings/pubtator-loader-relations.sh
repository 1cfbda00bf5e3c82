#!/bin/sh
# A file of PubTator with relations, as BC5CDR and BioRED are published, stops the reader.
#
# Version:  pubtator-loader 0.1.4, with spaCy 3.8.18 in place of the older one that it asks for
# Input:    a title, an abstract, two mentions and a line `1<tab>CID<tab>D008094<tab>D006073`
# Expected: two mentions, with or without the relation
# Observed: Exception: Unexpected content received on line #5; without the line, two mentions
# Source:   https://biocreative.bioinformatics.udel.edu/tasks/biocreative-v/track-3-cdr: relations follow the mentions
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check spacy==3.8.18
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check --no-deps pubtator-loader==0.1.4
cd "$folder"
env/bin/python - <<'PY'
from pathlib import Path

from pubtator_loader import PubTatorCorpusReader

LINES = [
    "1|t|Lithium and gout",
    "1|a|It helps.",
    "1\t0\t7\tLithium\tChemical\tD008094",
    "1\t12\t16\tgout\tDisease\tD006073",
    "1\tCID\tD008094\tD006073",
]
answers = []
for lines in (LINES, LINES[:-1]):
    Path("a.txt").write_text("\n".join([*lines, "", ""]))
    try:
        answers.append(len(PubTatorCorpusReader("a.txt").load_corpus()[0].entities))
    except Exception as error:
        answers.append(str(error).count("Unexpected content received"))
print(answers)
assert answers == [1, 2], "pubtator-loader has changed"
PY
