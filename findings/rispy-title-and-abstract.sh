#!/bin/sh
# The title and the abstract of a RIS file are under other keys if Ovid or EBSCO wrote it.
#
# Version:  rispy 0.10.0
# Input:    T1 and N2, which the specification has for title and abstract beside TI and AB
# Expected: record['title'] and record['abstract'], as for TI and AB
# Observed: 'primary_title' and 'notes_abstract'; who asks for 'abstract' gets none for each such reference
# Source:   http://www.referencemanager.com/support/risformat_tags_01.asp: T1, TI: title primary
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check rispy==0.10.0
cd "$folder"
env/bin/python - <<'END'
import rispy

(usual,) = rispy.loads("TY  - JOUR\nTI  - Gout\nAB  - It hurts.\nER  - \n")
(other,) = rispy.loads("TY  - JOUR\nT1  - Gout\nN2  - It hurts.\nER  - \n")
print(usual, other)
assert {"title", "abstract"} <= usual.keys(), "rispy has changed"
assert other.keys() == {"type_of_reference", "primary_title", "notes_abstract"}, "rispy has changed"
END
