#!/bin/sh
# 'Not only fever' and 'no increase in fever' say that there is none.
#
# Version:  medspacy 1.3.1, spaCy 3.7.5, negspacy 1.0.4
# Input:    words that look like a negation and are none, as NegEx lists them ('no increase', 'not only')
# Expected: the fever is not negated
# Observed: it is in medspaCy, whose own rules have no such words at all; it is not in negspaCy
# Source:   Chapman et al. 2001 (NegEx), table of pseudo-negations; Harkema et al. 2009 (ConText)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check medspacy==1.3.1 spacy==3.7.5 numpy==1.26.4 negspacy==1.0.4
cd "$folder"
env/bin/python - <<'END'
import spacy
import medspacy.context  # names the component
from negspacy.negation import Negex
from negspacy.termsets import termset


def pipeline(name, **config):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "Disease", "pattern": "fever"}])
    return nlp, nlp.add_pipe(name, config=config)


context, component = pipeline("medspacy_context")
negex, _ = pipeline("negex", neg_termset=termset("en_clinical").get_patterns())
texts = ["Not only fever.", "No increase in fever.", "No fever."]
told = {
    text: (context(text).ents[0]._.is_negated, negex(text).ents[0]._.negex) for text in texts
}
print(told, sorted({rule.category for rule in component.rules}))
assert told == {
    "Not only fever.": (True, False),
    "No increase in fever.": (True, False),
    "No fever.": (True, True),
}, "medspaCy or negspaCy has changed"
END
