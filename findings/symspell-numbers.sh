#!/bin/sh
# Correction of a phrase drops the numbers of its names: IL-2 and IL-6 become the same.
#
# Version:  symspellpy 6.10.1
# Input:    lookup_compound of "IL-2 recptor", with receptor and il in the dictionary
# Expected: il-2 receptor, or il 2 receptor
# Observed: il receptor; the same for IL-6; with ignore_non_words=True, the numbers stay
# Source:   https://symspellpy.readthedocs.io: "lookup_compound supports compound aware automatic spelling correction"
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check symspellpy==6.10.1
cd "$folder"
env/bin/python - <<'END'
from symspellpy import SymSpell

speller = SymSpell()
for word in ("il", "receptor"):
    speller.create_dictionary_entry(word, 100)
phrases = ("IL-2 recptor", "IL-6 recptor")
usual = [speller.lookup_compound(phrase, 2)[0].term for phrase in phrases]
kept = [speller.lookup_compound(phrase, 2, ignore_non_words=True)[0].term for phrase in phrases]
print(usual, kept)
assert usual == ["il receptor", "il receptor"], "symspellpy has changed"
assert kept == ["IL 2 receptor", "IL 6 receptor"], "symspellpy has changed"
END
