#!/bin/sh
# In layout mode a raised number takes the rest of its line along, so that a sentence begins with its end.
#
# Version:  pypdf 7.1.1, extract_text(extraction_mode="layout"); the page is made by reportlab 5.1.0
# Input:    one line: We saw IL-2, a raised 3 in a smaller font, and: rise, and gout.
# Expected: the words in the order in which they stand on the line
# Observed: '3 rise, and gout.' is a line before 'We saw IL-2'; the default mode keeps the order
# Source:   https://pypdf.readthedocs.io/en/stable/user/extract-text.html: layout mode places text as on the page
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check pypdf==7.1.1 reportlab==5.1.0
cd "$folder"
env/bin/python - <<'END'
from pypdf import PdfReader
from reportlab.pdfgen.canvas import Canvas

canvas = Canvas("page.pdf")
text = canvas.beginText(72, 700)
for words, size, rise in (("We saw IL-2", 12, 0), ("3", 7, 4), (" rise, and gout.", 12, 0)):
    text.setFont("Helvetica", size)
    text.setRise(rise)
    text.textOut(words)
canvas.drawText(text)
canvas.save()
page = PdfReader("page.pdf").pages[0]
plain, layout = page.extract_text(), page.extract_text(extraction_mode="layout")
print(repr(plain), repr(layout))
assert plain == "We saw IL-23 rise, and gout.", "pypdf has changed"
assert layout.split("\n") == ["3 rise, and gout.", "We saw IL-2"], "pypdf has changed"
END
