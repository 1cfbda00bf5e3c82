#!/bin/sh
# A document of Word with macros is refused as no file of Word, although its parts are those of any document.
#
# Version:  python-docx 1.2.0
# Input:    a document whose main part has the content type of a document with macros (.docm)
# Expected: the paragraphs, as from .docx
# Observed: ValueError: file ... is not a Word file; docx.package.Package.open reads it
# Source:   ECMA-376, part 1, 11.3.10 (main document part), and [MS-OFFMACRO2], 2.2.1.1: the main part of a document with
#           macros
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check python-docx==1.2.0
cd "$folder"
env/bin/python - <<'END'
import zipfile

import docx
from docx.package import Package

document = docx.Document()
document.add_paragraph("IL-2 rose.")
document.save("a.docx")
plain = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
macros = "application/vnd.ms-word.document.macroEnabled.main+xml"
with zipfile.ZipFile("a.docx") as before, zipfile.ZipFile("a.docm", "w") as after:
    for name in before.namelist():
        content = before.read(name)
        after.writestr(name, content.replace(plain.encode(), macros.encode()))
try:
    docx.Document("a.docm")
except ValueError as error:
    print(error)
    assert "not a Word file" in str(error), "python-docx has changed"
else:
    raise AssertionError("python-docx has changed")
assert Package.open("a.docm").main_document_part is not None
END
