#!/bin/sh
# Words that were inserted with tracked changes are not in the text of a paragraph.
#
# Version:  python-docx 1.2.0
# Input:    a paragraph 'We gave lithium daily', of which 'lithium' is in w:ins
# Expected: 'We gave lithium daily', which Word shows
# Observed: 'We gave  daily'
# Source:   ECMA-376 part 1, 17.13.5.18 (ins, inserted run content): its content is part of the document
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check python-docx==1.2.0
cd "$folder"
env/bin/python - <<'END'
from docx import Document
from docx.oxml import parse_xml

name = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
paragraph = Document().add_paragraph("We gave ")
paragraph._p.append(parse_xml(f'<w:ins {name} w:id="1" w:author="A"><w:r><w:t>lithium</w:t></w:r></w:ins>'))
paragraph.add_run(" daily")
print(repr(paragraph.text))
assert paragraph.text == "We gave  daily", "python-docx has changed"
END
