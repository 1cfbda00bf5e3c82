#!/bin/sh
# A line break in a report is spoiled when the message is written again.
#
# Version:  hl7apy 1.3.5
# Input:    an OBX segment of formatted text (FT) with the line break \.br\, the letter \X41\ and the ampersand \T\
# Expected: the value has a line break, A and &, or the escapes as they were; the same message is written
# Observed: value and message have \E\.br\E\ and \E\X41\E\, so that a reader sees '\.br\'; \T\ stays as it was
# Source:   HL7 2.5, 2.7 (escape sequences): \.br\ begins a new line, and \E\ is a backslash
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check hl7apy==1.3.5
cd "$folder"
env/bin/python - <<'END'
from hl7apy.parser import parse_message

segments = [
    r"MSH|^~\&|A|B|C|D|20260101||ORU^R01^ORU_R01|1|P|2.5",
    "PID|1||1||Doe^Jo",
    "OBR|1|||x",
    r"OBX|1|FT|n||one\.br\two \T\ \X41\||||||F",
]
message = parse_message("\r".join(segments), find_groups=False)
written = message.to_er7().split("\r")[3]
print(message.obx.obx_5.value, written)
assert written == r"OBX|1|FT|n||one\E\.br\E\two \T\ \E\X41\E\||||||F", "hl7apy has changed"
END
