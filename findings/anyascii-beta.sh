#!/bin/sh
# Greek letters of gene names become those of spoken Greek: TNF-β is TNF-v.
#
# Version:  anyascii 0.3.3, beside Unidecode 1.4.0
# Input:    TNF-β, η and χ²
# Expected: b, e and ch, as in the names that biologists write without Greek letters
# Observed: v, i and ch from anyascii; b, e and kh from Unidecode
# Source:   https://www.genenames.org/about/guidelines/: Greek letters become their Latin letters (beta is b)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check anyascii==0.3.3 Unidecode==1.4.0
cd "$folder"
env/bin/python - <<'END'
from anyascii import anyascii
from unidecode import unidecode

names = ("TNF-β", "η", "χ²")
print([(anyascii(name), unidecode(name)) for name in names])
assert [anyascii(name) for name in names] == ["TNF-v", "i", "ch2"], "anyascii has changed"
assert [unidecode(name) for name in names] == ["TNF-b", "e", "kh2"], "Unidecode has changed"
END
