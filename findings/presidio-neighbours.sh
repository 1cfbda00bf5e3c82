#!/bin/sh
# Two persons side by side become one, so that a pseudonym of a person depends on who stands beside.
#
# Version:  presidio-anonymizer 2.2.366
# Input:    'John Smith Mary Jones' with a mention for each of the two names; the same with a line end between them
# Expected: <PERSON> <PERSON>, as two mentions were handed over
# Observed: <PERSON>, and one pseudonym of both names, if only blanks are between them; two with a line end or a comma
# Source:   https://microsoft.github.io/presidio/anonymizer: mentions that do not overlap are replaced, each by its operator
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install -q --disable-pip-version-check presidio-anonymizer==2.2.366
cd "$folder"
env/bin/python - <<'END'
from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult


def seen(between):
    names = []
    text = f"John Smith{between}Mary Jones"
    mentions = [
        RecognizerResult("PERSON", text.index(name), text.index(name) + len(name), 0.9)
        for name in ("John Smith", "Mary Jones")
    ]
    operator = OperatorConfig("custom", {"lambda": lambda name: names.append(name) or "<PERSON>"})
    result = AnonymizerEngine().anonymize(text, mentions, {"PERSON": operator})
    return result.text, set(names)


print(seen(" "), seen("\n"))
assert seen(" ")[0] == "<PERSON>" and "John Smith Mary Jones" in seen(" ")[1], "it has changed"
assert seen("\n")[0] == "<PERSON>\n<PERSON>" and seen(", ")[0] == "<PERSON>, <PERSON>"
END
