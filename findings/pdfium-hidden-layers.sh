#!/bin/sh
# Text of a layer that is switched off is not drawn, and is part of the text of the page.
#
# Version:  pypdfium2 5.15.2
# Input:    a page with two texts, one of them in an optional content group that is off by default
# Expected: the text that a reader sees
# Observed: both texts, with nothing that tells them apart
# Source:   ISO 32000-2, 8.11.4: groups in the array OFF are not visible, and their content is not painted
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check pypdfium2==5.15.2 pillow
cd "$folder"
env/bin/python - <<'END'
import pypdfium2

content = b"BT /F 12 Tf 72 700 Td (Seen) Tj ET /OC /L BDC BT /F 12 Tf 72 600 Td (Hidden) Tj ET EMC"
objects = [
    b"<< /Type /Catalog /Pages 2 0 R /OCProperties << /OCGs [6 0 R] /D << /OFF [6 0 R] >> >> >>",
    b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 800] /Contents 4 0 R "
    b"/Resources << /Font << /F 5 0 R >> /Properties << /L 6 0 R >> >> >>",
    b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
    b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    b"<< /Type /OCG /Name (Layer) >>",
]
data, places = b"%PDF-1.7\n", []
for number, body in enumerate(objects, 1):
    places.append(len(data))
    data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
start = len(data)
data += b"xref\n0 7\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
data += b"trailer << /Root 1 0 R /Size 7 >>\nstartxref\n%d\n%%%%EOF" % start
page = pypdfium2.PdfDocument(data)[0]
text = page.get_textpage().get_text_bounded()
picture = page.render(scale=1).to_pil().convert("L")
drawn = {name: picture.crop((60, 800 - y - 20, 200, 800 - y + 10)).getextrema()[0] < 128 for name, y in (("Seen", 700), ("Hidden", 600))}
print(text.split(), drawn)
assert drawn == {"Seen": True, "Hidden": False}, "PDFium has changed"
assert text.split() == ["Seen", "Hidden"], "PDFium has changed"
END
