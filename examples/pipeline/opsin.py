"""A step of a pipeline as a program: structures of chemicals by their systematic names, from OPSIN.

It needs Java and py2opsin (pip install py2opsin), which contains OPSIN. Each mention of a chemical
without a concept gets the InChIKey of its structure as a link, if OPSIN understands the name.
"""

import json
import sys
import warnings

from py2opsin import py2opsin


def say(value):
    """Writes one line."""
    print(json.dumps(value), flush=True)


def name_of(document, mention):
    """The words of a mention."""
    return " ".join(document["text"][start:end] for start, end in mention["spans"])


def wanted(document):
    """Mentions of chemicals without a concept."""
    for mention in document.get("mentions", ()):
        if mention["type"] == "Chemical" and not any(
            link.get("curie") for link in mention.get("links", ())
        ):
            yield mention


def patch(document, keys):
    """What the step adds to a document."""
    links = []
    for mention in wanted(document):
        if key := keys.get(name_of(document, mention)):
            link = {"id": key, "ontology": "inchikey", "curie": f"inchikey:{key}"}
            links.append([[mention.get("source", ""), mention["type"], mention["spans"]], [link]])
    return {"links": links}


warnings.simplefilter("ignore")  # OPSIN warns of each name that is not systematic
say(
    {
        "fascicle_step": 1,
        "name": "opsin",
        "needs": ["mentions"],
        "gives": ["links"],
        "fingerprint": "opsin 2.8",
    }
)
for line in sys.stdin:
    try:
        documents = json.loads(line)["documents"]
        names = sorted({name_of(one, mention) for one in documents for mention in wanted(one)})
        keys = (
            dict(zip(names, py2opsin(names, output_format="StdInChIKey"), strict=True))
            if names
            else {}
        )
        say({"patches": [patch(one, keys) for one in documents]})
    except Exception as error:
        say({"error": f"{type(error).__name__}: {error}"})
