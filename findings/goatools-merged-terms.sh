#!/bin/sh
# A term is counted once more for each identifier that was merged into it.
#
# Version:  goatools 1.6.9
# Input:    an OBO file of two terms, of which one has two alternative identifiers (alt_id)
# Expected: two terms, and their alternative identifiers as another name for them
# Observed: a length of 4, and the term three times among the values
# Source:   https://github.com/tanghaibao/goatools: GODag holds the GO terms of an OBO file
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check goatools==1.6.9
cd "$folder"
env/bin/python - <<'END'
from pathlib import Path

from goatools.obo_parser import GODag

stanza = "\n[Term]\nid: GO:000000{}\nname: {}\nnamespace: biological_process\n"
Path("go.obo").write_text(
    "format-version: 1.2\n"
    + stanza.format(1, "one")
    + "alt_id: GO:0000008\nalt_id: GO:0000009\n"
    + stanza.format(2, "two")
    + "is_a: GO:0000001 ! one\n"
)
terms = GODag("go.obo", prt=None)
values = sorted(term.id for term in terms.values())
print(len(terms), values)
assert values == ["GO:0000001"] * 3 + ["GO:0000002"], "goatools has changed"
END
