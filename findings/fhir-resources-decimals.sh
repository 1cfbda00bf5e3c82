#!/bin/sh
# A measured value of 1.10 becomes 1.1, and a time gets digits that were not measured.
#
# Version:  fhir.resources 8.3.0
# Input:    an Observation of FHIR R5 with the value 1.10 and a time with milliseconds, read and written again
# Expected: 1.10 and .120Z, as the precision of decimals is part of the value in FHIR
# Observed: 1.1 and .120000Z
# Source:   https://hl7.org/fhir/datatypes.html#decimal: the precision of the value is significant, and 0.010 is not 0.01
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check fhir.resources==8.3.0
cd "$folder"
env/bin/python - <<'END'
from fhir.resources.observation import Observation

text = (
    "{\"resourceType\":\"Observation\",\"status\":\"final\",\"code\":{\"text\":\"potassium\"},"
    "\"issued\":\"2024-01-01T10:00:00.120Z\",\"valueQuantity\":{\"value\":1.10,\"unit\":\"mmol/L\"}}"
)
written = Observation.model_validate_json(text).model_dump_json()
print(written)
assert "\"value\":1.1," in written, "fhir.resources has changed"
assert "10:00:00.120000Z" in written, "fhir.resources has changed"
END
