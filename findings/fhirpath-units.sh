#!/bin/sh
# A milligram is a thousandth of a gram in JavaScript, and is not in Python.
#
# Version:  fhirpathpy 2.2.4 (pip), fhirpath 5.2.2 (npm)
# Input:    equality of quantities in FHIRPath: 1 'mg' and 0.001 'g'; 37 'Cel' and 98.6 '[degF]'; 1 'a' and 1 year
# Expected: true, true and no answer, as the mean year 'a' of UCUM is not the calendar year
# Observed: so it is in fhirpath; fhirpathpy says false, false and true
# Source:   https://hl7.org/fhirpath/#equals: quantities of one dimension are compared in one unit
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check fhirpathpy==2.2.4
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . fhirpath@5.2.2 > install.log 2>&1 || { cat install.log >&2; exit 1; }
cat > expressions.json <<'END'
["1 'mg' = 0.001 'g'", "37 'Cel' = 98.6 '[degF]'", "1 'a' = 1 year"]
END
cat > run.cjs <<'END'
const assert = require("assert");
const fhirpath = require("fhirpath");

const told = require("./expressions.json").map((expression) => fhirpath.evaluate({}, expression));
console.log(told);
assert.deepStrictEqual(told, [[true], [true], []], "fhirpath has changed");
END
node run.cjs
env/bin/python - <<'END'
import json
from pathlib import Path

from fhirpathpy import evaluate

told = [evaluate({}, expression) for expression in json.loads(Path("expressions.json").read_text())]
print(told)
assert told == [[False], [False], [True]], "fhirpathpy has changed"
END
