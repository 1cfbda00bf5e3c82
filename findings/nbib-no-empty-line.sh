#!/bin/sh
# Of citations without an empty line between them only the last one is read.
#
# Version:  nbib 0.3.2
# Input:    two citations of PubMed, each from its PMID, one directly behind the other
# Expected: two references, since a citation has one PMID; or an error
# Observed: one reference, the second; the first is gone without a word
# Source:   https://www.nlm.nih.gov/bsd/mms/medlineelements.html: PMID is a unique number for each citation
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check nbib==0.3.2
cd "$folder"
env/bin/python - <<'END'
import nbib

citations = "PMID- 1\nTI  - One\nPMID- 2\nTI  - Two\n"
references = nbib.read(citations)
print(references)
assert [one["pubmed_id"] for one in references] == [2], "nbib has changed"
assert len(nbib.read(citations.replace("PMID- 2", "\nPMID- 2"))) == 2, "nbib has changed"
END
