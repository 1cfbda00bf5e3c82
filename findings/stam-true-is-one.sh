#!/bin/sh
# The value True of an annotation is stored as the integer 1, although stores have truth values.
#
# Version:  stam 0.12.1 (the Python library of STAM)
# Input:    an annotation with the value True for the key "negated"; and a store with the same value as JSON
# Expected: the type Bool in the JSON that is written, as True in a store is read as True
# Observed: {"@type": "Int", "value": 1}; the value that is read from JSON is True
# Source:   https://github.com/annotation/stam: an AnnotationData has a value of the type Bool, among others
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check stam==0.12.1
cd "$folder"
env/bin/python - <<'END'
import json

import stam

store = stam.AnnotationStore(id="store")
text = store.add_resource(id="text", text="no fever")
fever = stam.Selector.textselector(text, stam.Offset.simple(3, 8))
store.annotate(target=fever, data={"key": "negated", "value": True, "set": "facts"})
written = json.loads(store.to_json_string())
datum = written["annotationsets"][0]["data"][0]
print(datum["value"])
assert datum["value"] == {"@type": "Int", "value": 1}, "stam has changed"

datum["value"] = {"@type": "Bool", "value": True}
with open("bool.stam.json", "w", encoding="utf-8") as file:
    json.dump(written, file)
(annotation,) = stam.AnnotationStore(file="bool.stam.json").annotations()
(value,) = [datum.value().get() for datum in annotation]
print(value)
assert value is True, "stam has changed"
END
