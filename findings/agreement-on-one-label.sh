#!/bin/sh
# Annotators who agree about everything have no agreement, an error or the highest one, by the library.
#
# Version:  krippendorff 0.9.0, NLTK 3.10.4
# Input:    two annotators, three mentions, all with the label Disease
# Expected: one value from both
# Observed: ValueError from krippendorff; 1 from NLTK (alpha and kappa)
# Source:   K. Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011: without variation, alpha is not defined
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check krippendorff==0.9.0 nltk==3.10.4
cd "$folder"
env/bin/python - <<'END'
import krippendorff
from nltk.metrics.agreement import AnnotationTask

labels = [["Disease"] * 3, ["Disease"] * 3]
try:
    alpha = krippendorff.alpha(reliability_data=labels, level_of_measurement="nominal")
except ValueError as error:
    alpha = str(error)
task = AnnotationTask(
    [(who, item, label) for who, row in enumerate(labels) for item, label in enumerate(row)]
)
print("krippendorff:", alpha, "NLTK:", task.alpha(), task.kappa())
assert alpha == "There has to be more than one value in the domain.", "krippendorff has changed"
assert (task.alpha(), task.kappa()) == (1, 1), "NLTK has changed"
END
