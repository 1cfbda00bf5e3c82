#!/bin/sh
# Four extractors of text from web pages join a raised citation to the name before it, so that it names another gene.
#
# Version:  trafilatura 2.3.1, inscriptis 2.7.6, html2text 2025.4.15, resiliparse 2.0.1
# Input:    <p>We saw that IL-2<sup>3</sup> rose ...</p> in an article
# Expected: the number apart from IL-2 by a blank or a sign, or left out
# Observed: IL-23, another cytokine, from all four; trafilatura keeps <sup> only with include_formatting=True
# Source:   https://html.spec.whatwg.org/multipage/text-level-semantics.html#the-sub-and-sup-elements: sup is for
#           conventions with a meaning, which would be another without it
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check trafilatura==2.3.1 inscriptis==2.7.6 html2text==2025.4.15 \
    resiliparse==2.0.1 lxml_html_clean==0.4.6
cd "$folder"
env/bin/python - <<'END'
import html2text
import inscriptis
import trafilatura
from resiliparse.extract.html2text import extract_plain_text

sentence = "We saw that IL-2<sup>3</sup> rose in patients, and that this was common in all of the groups that were seen."
page = f"<html><body><article><h1>Cytokines</h1><p>{sentence}</p><p>{sentence}</p></article></body></html>"
texts = {
    "trafilatura": trafilatura.extract(page),
    "inscriptis": inscriptis.get_text(page),
    "html2text": html2text.html2text(page),
    "resiliparse": extract_plain_text(page),
}
for name, text in texts.items():
    print(name, [word for word in text.split() if word.startswith("IL-")])
    assert "IL-23 rose" in text, f"{name} has changed"
assert "IL-2<sup>3</sup>" in trafilatura.extract(page, include_formatting=True), "trafilatura has changed"
END
