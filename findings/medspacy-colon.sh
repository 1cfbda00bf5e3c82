#!/bin/sh
# 'Skin: no rash' says that there is a rash.
#
# Version:  medspacy 1.3.1, spaCy 3.7.5
# Input:    headings with a colon before 'no', 'without' and 'denies', and a hyphen before 'no'
# Expected: the mention behind the cue is negated each time
# Observed: it is not behind ': no', which is a cue for the words before it, and hides the cue 'no'
# Source:   https://github.com/medspacy/medspacy: ConText finds the cue 'no' before a mention
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check medspacy==1.3.1 spacy==3.7.5 numpy==1.26.4
cd "$folder"
env/bin/python - <<'END'
import spacy
import medspacy.context  # names the component

nlp = spacy.blank("en")
nlp.add_pipe("sentencizer")
nlp.add_pipe("entity_ruler").add_patterns([{"label": "Disease", "pattern": "rash"}])
nlp.add_pipe("medspacy_context")
texts = ["Skin: no rash.", "Skin - no rash.", "Skin: without rash.", "Skin: denies rash.", "No rash."]
told = {text: nlp(text).ents[0]._.is_negated for text in texts}
print(told)
assert told == {
    "Skin: no rash.": False,
    "Skin - no rash.": True,
    "Skin: without rash.": True,
    "Skin: denies rash.": True,
    "No rash.": True,
}, "medspaCy has changed"
END
