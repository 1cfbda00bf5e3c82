#!/bin/sh
# Lists among the values of annotations are run together when a store is written as CSV.
#
# Version:  stam 0.12.1 (the Python library of STAM)
# Input:    an annotation with the value [1, 2] for the key "codes", saved as CSV and opened again
# Expected: a list, or an error that CSV holds no lists
# Observed: the cell is ', 12', and the value that is read is this text
# Source:   https://github.com/annotation/stam/tree/master/extensions/stam-csv: values are texts in CSV
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check stam==0.12.1
cd "$folder"
printf 'no fever' > text.txt
env/bin/python - <<'END'
import csv

import stam

store = stam.AnnotationStore(id="store")
text = store.add_resource(filename="text.txt")
fever = stam.Selector.textselector(text, stam.Offset.simple(3, 8))
store.annotate(target=fever, data={"key": "codes", "value": [1, 2], "set": "facts"})
store.to_file("all.store.stam.csv")
with open("facts.annotationset.stam.csv", encoding="utf-8", newline="") as file:
    cells = [row["Value"] for row in csv.DictReader(file) if row["Value"]]
(annotation,) = stam.AnnotationStore(file="all.store.stam.csv").annotations()
values = [datum.value().get() for datum in annotation]
print(cells, values)
assert cells == values == [", 12"], "stam has changed"
END
