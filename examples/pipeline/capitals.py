"""A step of a pipeline as a program: it finds words of two capitals or more. It needs no
package.
"""

import json
import re
import sys


def say(value):
    """Writes one line."""
    print(json.dumps(value), flush=True)


def patch(document):
    """What the step adds to a document."""
    found = re.finditer(r"(?<!\w)[A-Z]{2,}(?!\w)", document["text"])
    add = [{"spans": [one.span()], "type": "Acronym", "source": "capitals"} for one in found]
    return {
        "add": [mention for mention in add if document["text"][mention["spans"][0][1] :][:1] != "-"]
    }


say(
    {
        "fascicle_step": 1,
        "name": "capitals",
        "gives": ["mentions"],
        "drops": [],
        "fingerprint": "capitals 1",
    }
)
for line in sys.stdin:
    try:
        say({"patches": [patch(document) for document in json.loads(line)["documents"]]})
    except Exception as error:
        say({"error": f"{type(error).__name__}: {error}"})
