#!/bin/sh
# Texts without names count as perfect, so that a score rises with the number of empty texts.
#
# Version:  eval4ner 0.1.0
# Input:    one text whose only name is missed, alone and beside three texts without any name
# Expected: F1 of 0 both times, as there is one name, which is missed
# Observed: 0 and 0.75: the mean over texts, where empty answers to empty texts are 1
# Source:   https://www.clips.uantwerpen.be/conll2003/ner: precision and recall count names over all texts
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check eval4ner==0.1.0
cd "$folder"
env/bin/python - <<'PY'
from eval4ner import muc

scores = []
for empty in (0, 3):
    answers = [[]] * (empty + 1)
    gold = [[("Disease", "gout")], *[[]] * empty]
    texts = ["It was gout."] * (empty + 1)
    scores.append(muc.evaluate_all(answers, gold, texts)["strict"]["f1_score"])
print(scores)
assert scores == [0.0, 0.75], "eval4ner has changed"
PY
