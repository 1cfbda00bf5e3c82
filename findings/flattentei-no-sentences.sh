#!/bin/sh
# A paper that GROBID did not divide into sentences loses the words of its paragraphs; the citations stay.
#
# Version:  flattentei 0.2.0
# Input:    TEI of GROBID with a paragraph without <s>, as GROBID writes it unless segmentSentences is set
# Expected: the words of the paragraph
# Observed: '[1]' alone; with transform_xml(..., sentences=False) they are there
# Source:   https://grobid.readthedocs.io/en/latest/Grobid-service: segmentSentences is optional, and off by default
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check flattentei==0.2.0
cd "$folder"
cat > paper.tei.xml <<'END'
<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title level="a" type="main">A paper</title></titleStmt></fileDesc></teiHeader>
<text><body><div><head>Results</head><p>Mice had gout <ref type="bibr" target="#b0">[1]</ref> and fever.</p></div></body></text></TEI>
END
env/bin/python - <<'END'
from flattentei.tei_to_text_and_standoff import transform_xml

text, _ = transform_xml("paper.tei.xml")
whole, _ = transform_xml("paper.tei.xml", sentences=False)
print(repr(text))
assert "[1]" in text and "gout" not in text and "fever" not in text, "flattentei has changed"
assert "Mice had gout [1] and fever." in whole, "flattentei has changed"
END
