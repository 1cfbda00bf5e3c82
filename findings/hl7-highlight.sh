#!/bin/sh
# The escape sequences that begin and end highlighted text become underscores, which join the word.
#
# Version:  hl7 0.4.5
# Input:    an observation with \H\IL-2\N\ (highlighted) and \.br\ (a line break) in its text
# Expected: IL-2 without signs of its own, since the sequences only say how it is shown
# Observed: _IL-2_, while \.br\ is a carriage return
# Source:   HL7 version 2, chapter 2, "Use of escape sequences in text fields": \H\ starts and \N\ ends highlighting
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check hl7==0.4.5
cd "$folder"
env/bin/python - <<'END'
import hl7

head = "MSH|^~\\&|A|B|C|D|20260101||ORU^R01|1|P|2.5"
message = hl7.parse(head + "\rOBX|1|TX|1^^L||We saw \\H\\IL-2\\N\\ rise.\\.br\\It fell.")
text = message.unescape(str(message.segment("OBX")[5]))
print(repr(text))
assert text == "We saw _IL-2_ rise.\rIt fell.", "hl7 has changed"
END
