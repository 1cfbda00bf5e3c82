#!/bin/sh
# The minus sign, the sign for "at least" and the delta of a deletion become a question mark in brackets.
#
# Version:  text-unidecode 1.3, beside Unidecode 1.4.0
# Input:    10−3 (U+2212), p ≥ 0.05 and ∆F508 (U+2206)
# Expected: 10-3, p >= 0.05 and another letter or nothing for the delta, as from Unidecode; β and µ are b and u in both
# Observed: 10[?]3, p [?] 0.05 and [?]F508
# Source:   https://github.com/kmike/text-unidecode: the most basic port of Text::Unidecode; python-slugify uses it by default
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check text-unidecode==1.3 Unidecode==1.4.0
cd "$folder"
env/bin/python - <<'END'
import text_unidecode
import unidecode

texts = "10\u22123", "p \u2265 0.05", "\u2206F508", "\u00b5g TNF-\u03b2"
print([text_unidecode.unidecode(text) for text in texts], [unidecode.unidecode(text) for text in texts])
seen = [text_unidecode.unidecode(text) for text in texts]
assert seen == ["10[?]3", "p [?] 0.05", "[?]F508", "ug TNF-b"], "text-unidecode has changed"
assert [unidecode.unidecode(text) for text in texts[:2]] == ["10-3", "p >= 0.05"]
END
