#!/bin/sh
# Names of diseases and organs that are singular lose their last letters, and Latin plurals stay.
#
# Version:  inflect 7.6.0, singular_noun
# Input:    pancreas, scabies, pertussis, tetanus, ascites, larvae, diabetes
# Expected: False (they are singular), as the documentation says of nouns that are no plural; larva for larvae
# Observed: pancrea, scaby, pertussi, tetanu, ascite; False for larvae; diabetes stays
# Source:   https://inflect.readthedocs.io: singular_noun returns False if the word is not a plural
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check inflect==7.6.0
cd "$folder"
env/bin/python - <<'END'
import inflect

words = ("pancreas", "scabies", "pertussis", "tetanus", "ascites", "larvae", "diabetes")
seen = [inflect.engine().singular_noun(word) for word in words]
print(dict(zip(words, seen)))
assert seen == ["pancrea", "scaby", "pertussi", "tetanu", "ascite", False, "diabetes"], "inflect has changed"
END
