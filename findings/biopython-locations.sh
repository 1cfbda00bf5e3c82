#!/bin/sh
# A citation's second location identifier is glued to the first, while other repeated fields are lists.
#
# Version:  biopython 1.88, Bio.Medline
# Input:    LID - 10.1/x [doi] and LID - e17 [pii] in one citation, as PubMed exports them; AID likewise
# Expected: a list for both fields, as for MH, AU and AID
# Observed: AID is a list of two; LID is one text, '10.1/x [doi] e17 [pii]', so it is no DOI
# Source:   https://www.nlm.nih.gov/bsd/mms/medlineelements.html: LID may be present more than once
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check biopython==1.88
cd "$folder"
env/bin/python - <<'END'
import io

from Bio import Medline

citation = "PMID- 1\nLID - 10.1/x [doi]\nLID - e17 [pii]\nAID - 10.1/x [doi]\nAID - e17 [pii]\n"
record = Medline.read(io.StringIO(citation))
print(record["LID"], record["AID"])
assert record["LID"] == "10.1/x [doi] e17 [pii]", "Bio.Medline has changed"
assert record["AID"] == ["10.1/x [doi]", "e17 [pii]"], "Bio.Medline has changed"
END
