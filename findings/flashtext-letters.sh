#!/bin/sh
# A name is found inside of words whose next letter is outside of ASCII, and offsets move behind a capital dotted I.
#
# Version:  flashtext 2.7
# Input:    the keyword IL-2 in 'IL-2β', 'βIL-2', 'IL-2R' and 'İ IL-2' (U+0130), with the spans
# Expected: no match in the first three, as a letter goes on; (2, 6) in the last
# Observed: a match in 'IL-2β' and 'βIL-2', none in 'IL-2R'; (3, 7) in the last, since its lower case has two characters
# Source:   https://flashtext.readthedocs.io: a keyword ends where a character outside of its set of word characters
#           stands; the set has the letters and digits of ASCII and the underscore
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check flashtext==2.7
cd "$folder"
env/bin/python - <<'END'
from flashtext import KeywordProcessor

processor = KeywordProcessor()
processor.add_keyword("IL-2")
spans = {
    text: processor.extract_keywords(text, span_info=True) for text in ("IL-2\u03b2", "\u03b2IL-2", "IL-2R", "\u0130 IL-2")
}
print(spans)
assert spans["IL-2\u03b2"] == [("IL-2", 0, 4)], "flashtext has changed"
assert spans["\u03b2IL-2"] == [("IL-2", 1, 5)], "flashtext has changed"
assert spans["IL-2R"] == [], "flashtext has changed"
assert spans["\u0130 IL-2"] == [("IL-2", 3, 7)], "flashtext has changed"
END
