#!/bin/sh
# One name, two distances: Damerau-Levenshtein of textdistance is another than that of jellyfish and RapidFuzz.
#
# Version:  textdistance 4.6.3, jellyfish 1.3.0, RapidFuzz 3.14.6
# Input:    CA and ABC
# Expected: 2 (exchange C and A, put B between them), by each function of this name
# Observed: 3 by textdistance, 2 by the two others; 2 by textdistance with restricted=False
# Source:   https://en.wikipedia.org/wiki/Damerau%E2%80%93Levenshtein_distance: the distance of CA and ABC is 2; the optimal string alignment distance is 3
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check textdistance==4.6.3 jellyfish==1.3.0 rapidfuzz==3.14.6
cd "$folder"
env/bin/python - <<'END'
import jellyfish
import textdistance
from rapidfuzz.distance import DamerauLevenshtein

pair = ("CA", "ABC")
distances = {
    "textdistance": textdistance.damerau_levenshtein(*pair),
    "textdistance, not restricted": textdistance.DamerauLevenshtein(restricted=False)(*pair),
    "jellyfish": jellyfish.damerau_levenshtein_distance(*pair),
    "RapidFuzz": DamerauLevenshtein.distance(*pair),
}
print(distances)
assert list(distances.values()) == [3, 2, 2, 2], "a library has changed"
END
