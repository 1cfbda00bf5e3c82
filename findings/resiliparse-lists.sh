#!/bin/sh
# The main content of a page loses a list of names, while the paragraphs and the table around it stay.
#
# Version:  resiliparse 2.0.1, extract_plain_text(..., main_content=True)
# Input:    an article with a heading, two paragraphs, a list of two diseases and a table
# Expected: the list is part of the article, and of its main content
# Observed: both diseases are missing; without main_content=True they are there
# Source:   https://resiliparse.chatnoir.eu/en/stable/man/extract/html2text.html: main_content leaves out navigation,
#           sidebars and footers
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check resiliparse==2.0.1
cd "$folder"
env/bin/python - <<'END'
from resiliparse.extract.html2text import extract_plain_text

sentence = "We asked all patients of the two groups for the diseases that they had before, and counted what they said."
page = (
    f"<html><body><article><h1>Diseases</h1><p>{sentence}</p><p>{sentence}</p><ul><li>asthma</li><li>gout</li></ul>"
    "<table><tr><td>TP53</td><td>1</td></tr></table></article></body></html>"
)
main, whole = extract_plain_text(page, main_content=True), extract_plain_text(page)
print(repr(main))
assert "asthma" in whole and "gout" in whole and "TP53" in main, "resiliparse has changed"
assert "asthma" not in main and "gout" not in main, "resiliparse has changed"
END
