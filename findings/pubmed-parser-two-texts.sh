#!/bin/sh
# Two functions of one library read the same words of an article as different texts.
#
# Version:  pubmed_parser 0.5.1
# Input:    'We gave CO<sub>2</sub>.' in the abstract and in a paragraph of the body
# Expected: the same text from both
# Observed: 'We gave CO 2 .' of parse_pubmed_xml, 'We gave CO2.' of parse_pubmed_paragraph
# Source:   https://jats.nlm.nih.gov: sub is an element in the line, and no blank belongs before or behind it
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check pubmed_parser==0.5.1
cd "$folder"
env/bin/python - <<'END'
import pubmed_parser

words = "We gave CO<sub>2</sub>."
with open("a.nxml", "w", encoding="utf-8") as stream:
    stream.write(
        "<article><front><article-meta><title-group><article-title>T</article-title></title-group>"
        "<pub-date pub-type='ppub'><year>2020</year></pub-date>"
        f"<abstract><p>{words}</p></abstract></article-meta></front>"
        f"<body><sec><title>S</title><p>{words}</p></sec></body></article>"
    )
abstract = pubmed_parser.parse_pubmed_xml("a.nxml")["abstract"]
(paragraph,) = pubmed_parser.parse_pubmed_paragraph("a.nxml", all_paragraph=True)
print(repr(abstract), repr(paragraph["text"]))
assert (abstract, paragraph["text"]) == ("We gave CO 2 .", "We gave CO2."), "pubmed_parser has changed"
END
