"""The page of formats has the stored counts of CRAFT, and the classes of differences are what
they are called.
"""

from __future__ import annotations

import json
import re
from collections import Counter

from studies.common import HERE, RESULTS
from studies.formats.craft_text import differences

PAGE = HERE / "docs" / "formats.md"


def test_the_page_has_the_stored_counts() -> None:
    stored = json.loads((RESULTS / "craft-text.json").read_text(encoding="utf-8"))["paragraphs"]
    table = (
        PAGE.read_text(encoding="utf-8")
        .partition("| paragraphs | how many |")[2]
        .partition("\n\n")[0]
    )
    shown = [int(number.replace(",", "")) for number in re.findall(r"\| ([\d,]+) \|", table)]
    kinds = ("same", "blanks", "added heading", "short abstract", "keywords", "ours alone")
    assert shown == [*(stored[kind] for kind in kinds), 0]
    assert stored.keys() == {*kinds, "official alone"}
    # but for the marks, each of these is one of those
    assert stored["official alone"] == stored["ours alone"]


def test_differences_are_classified() -> None:
    official = "Abstract\n\nOne two\nthree\nfour\nKeywords: a\nlost"
    found = differences(official, "One  two\n\nthree\n\nfour\nin short\nadded", "inshort")
    assert Counter(kind for kind, _ in found) == {
        **{"same": 2, "blanks": 1, "added heading": 1, "keywords": 1, "short abstract": 1},
        **{"official alone": 1, "ours alone": 1},
    }
