#!/bin/sh
# A raised number of a Word document is marked in HTML, and is part of the name before it in Markdown.
#
# Version:  mammoth 1.13.0; the document is made by python-docx 1.2.0
# Input:    a paragraph: We saw IL-2, a run 3 with superscript, and: rise.
# Expected: Markdown with <sup>3</sup>, which it allows, or another sign
# Observed: IL\-23 in Markdown, and IL-2<sup>3</sup> in HTML
# Source:   https://spec.commonmark.org/0.31.2/#raw-html: HTML may stand in Markdown
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check mammoth==1.13.0 python-docx==1.2.0
cd "$folder"
env/bin/python - <<'END'
import docx
import mammoth

document = docx.Document()
paragraph = document.add_paragraph("We saw IL-2")
paragraph.add_run("3").font.superscript = True
paragraph.add_run(" rise.")
document.save("paper.docx")
with open("paper.docx", "rb") as file:
    html = mammoth.convert_to_html(file).value
    file.seek(0)
    markdown = mammoth.convert_to_markdown(file).value.strip()
print(html, markdown)
assert html == "<p>We saw IL-2<sup>3</sup> rise.</p>", "mammoth has changed"
assert markdown == "We saw IL\\-23 rise\\.", "mammoth has changed"
END
