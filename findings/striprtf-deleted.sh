#!/bin/sh
# Text of RTF that was deleted in a revision, or is hidden, stands in the plain text; a Greek letter of the font Symbol is Latin.
#
# Version:  striprtf 0.0.35, rtf_to_text
# Input:    a line with a group {\deleted ...}, one with {\v ...}, and one with {\f1 a}, where \f1 is Symbol
# Expected: "aspirin tablets" twice; TNF-α
# Observed: "aspirin ibuprofen tablets" twice; TNF-a
# Source:   Rich Text Format Specification 1.9.1: \deleted marks text as deleted, \v as hidden; \fcharset2 is Symbol
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check striprtf==0.0.35
cd "$folder"
env/bin/python - <<'END'
from striprtf.striprtf import rtf_to_text

fonts = r"{\fonttbl{\f0 Arial;}{\f1\fcharset2 Symbol;}}"
lines = (
    r"{\rtf1\ansi aspirin {\deleted ibuprofen }tablets}",
    r"{\rtf1\ansi aspirin {\v ibuprofen }tablets}",
    r"{\rtf1\ansi" + fonts + r"\f0 TNF-{\f1 a}}",
)
seen = [rtf_to_text(line) for line in lines]
print(*seen, sep="\n")
assert seen == ["aspirin ibuprofen tablets"] * 2 + ["TNF-a"], "striprtf has changed"
END
