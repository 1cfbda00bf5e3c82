#!/bin/sh
# A mention is saved with an end inside of its last character, if that ends the text and is beyond U+FFFF.
#
# Version:  gatenlp 1.0.8
# Input:    a mention of all of 'gout' and U+1F9AB, saved as bdocjs with offset_type j (UTF-16 units)
# Expected: the end 6, as the text has six units
# Observed: 5, the middle of the last character, while the same mention before a further letter ends at 6
# Source:   https://gatenlp.github.io/python-gatenlp/: offsets of Java count UTF-16 units, and are converted when saved
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check gatenlp==1.0.8 requests
cd "$folder"
env/bin/python - <<'END'
import json

from gatenlp import Document


def last_end(text):
    document = Document(text)
    document.annset().add(0, 5, "Disease")
    saved = json.loads(document.save_mem(fmt="json", offset_type="j"))
    return [one["end"] for one in saved["annotation_sets"][""]["annotations"]]


ends = last_end("gout\U0001f9ab"), last_end("gout\U0001f9abs")
print(ends)
assert ends == ([5], [6]), "gatenlp has changed"
END
