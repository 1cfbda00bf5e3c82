#!/bin/sh
# A citation of a paper names another paper of the list of references.
#
# Version:  grobid-client-python 0.2.1, TEI2LossyJSONConverter
# Input:    TEI of GROBID with the references b0 and b1, and a paragraph that cites b1
# Expected: the reference whose id is b1 is the one that was cited, 'On mice'
# Observed: it is 'On gout': ids are counted from 1, while GROBID counts from 0; the id of GROBID is under 'target'
# Source:   https://grobid.readthedocs.io/en/latest/TEI-encoding-of-results: the target #b1 is the xml:id of a biblStruct
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check grobid-client-python==0.2.1
cd "$folder"
cat > paper.tei.xml <<'END'
<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title level="a" type="main">A paper</title></titleStmt></fileDesc></teiHeader>
<text><body><div><head>Results</head><p>Mice had gout <ref type="bibr" target="#b1">[2]</ref>.</p></div></body>
<back><div type="references"><listBibl>
<biblStruct xml:id="b0"><analytic><title level="a" type="main">On gout</title></analytic><monogr><title level="j">A</title><imprint/></monogr></biblStruct>
<biblStruct xml:id="b1"><analytic><title level="a" type="main">On mice</title></analytic><monogr><title level="j">B</title><imprint/></monogr></biblStruct>
</listBibl></div></back></text></TEI>
END
env/bin/python - <<'END'
from pathlib import Path

from grobid_client.format.TEI2LossyJSON import TEI2LossyJSONConverter

paper = TEI2LossyJSONConverter().convert_tei_file(Path("paper.tei.xml"), stream=False)
(cited,) = [ref["target"] for part in paper["body_text"] for ref in part["refs"]]
print(cited, [(one["id"], one["target"], one["title"]) for one in paper["references"]])
titles = {one["id"]: one["title"] for one in paper["references"]}
assert titles[cited.lstrip("#")] == "On gout", "grobid-client-python has changed"
END
