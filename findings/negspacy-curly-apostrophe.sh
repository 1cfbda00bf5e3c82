#!/bin/sh
# 'He doesn’t have gout' with a curly apostrophe says that he has it.
#
# Version:  negspacy 1.1.0, spaCy 3.8.18
# Input:    contracted negations with a straight and with a curly apostrophe, as Word and PDF have it
# Expected: the mention is negated with both
# Observed: with the straight one alone, though spaCy divides both into 'does' and "n't"
# Source:   https://github.com/jenojp/negspacy: the terms of en_clinical have "doesn't" and others
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check negspacy==1.1.0 spacy==3.8.18
cd "$folder"
env/bin/python - <<'END'
import spacy
from negspacy.negation import Negex
from negspacy.termsets import termset

nlp = spacy.blank("en")
nlp.add_pipe("sentencizer")
nlp.add_pipe("entity_ruler").add_patterns([{"label": "Disease", "pattern": "gout"}])
nlp.add_pipe("negex", config={"neg_termset": termset("en_clinical").get_patterns()})
told = {
    verb: [
        nlp(f"He {verb.replace(chr(39), apostrophe)} gout.").ents[0]._.negex
        for apostrophe in (chr(39), "\u2019")
    ]
    for verb in ("doesn\u0027t have", "didn\u0027t have", "isn\u0027t known for")
}
print(told)
assert told["doesn\u0027t have"] == told["didn\u0027t have"] == [True, False], "negspaCy has changed"
END
