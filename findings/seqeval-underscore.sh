#!/bin/sh
# Tags with an underscore are scored, under a type that nobody wrote.
#
# Version:  seqeval 1.2.2
# Input:    the tags B_Gene and I_Gene, as some corpora write them, beside B-Gene
# Expected: an error, or the type Gene
# Observed: a warning, then full marks for a type '_Gene' beside the type 'Gene'
# Source:   https://github.com/chakki-works/seqeval: tags are a prefix, a hyphen and a type
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check seqeval==1.2.2
cd "$folder"
env/bin/python - <<'END'
import warnings

from seqeval.metrics import classification_report

tags = [["B_Gene", "I_Gene", "O", "B-Gene"]]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    report = classification_report(tags, tags, output_dict=True)
types = {name for name in report if not name.endswith("avg")}
print(types, [str(one.message) for one in caught])
assert types == {"Gene", "_Gene"}, "seqeval has changed"
assert report["_Gene"]["f1-score"] == 1, "seqeval has changed"
END
