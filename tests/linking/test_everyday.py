"""Everyday names in sentences, with the pack and the linker that are shipped."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from fascicle.core.document import Document, Mention
from fascicle.linking.opening import find

ROWS = Path(__file__).with_name("everyday.tsv").read_text(encoding="utf-8").splitlines()[1:]


def test_everyday_names_are_right_or_not_answered() -> None:
    """A row has a type, a sentence with the name in brackets, and the concepts that are right;
    ``-`` for none.
    """
    linker, counts = find("basic").opened(), Counter[str]()
    for kind, marked, concepts in (row.split("\t") for row in ROWS):
        name = re.search(r"\[(.*?)\]", marked)
        assert name
        spans = ((name.start(), name.start() + len(name[1])),)
        text = f"{marked[: name.start()]}{name[1]}{marked[name.end() :]}"
        (patch,) = linker.predict([Document(id="1", text=text, mentions=(Mention(spans, kind),))])
        ((_, links),) = patch.links
        if len(links) > 1 or links[0].nil:
            counts["none"] += "-" not in concepts.split("|")
            counts["right"] += "-" in concepts.split("|")
        else:
            counts[
                "right" if {links[0].curie, *links[0].same} & set(concepts.split("|")) else "wrong"
            ] += 1
    assert len(ROWS) == 150
    assert counts["right"] >= 141
    assert counts["wrong"] <= 3
