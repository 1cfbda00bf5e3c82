"""Formats that are read as streams: what is held in memory does not grow with the file."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from fascicle.formats import read

BODY = "Lung cancer and IL-2. " * 100
KAZU = json.dumps({"idx": "#", "sections": [{"text": BODY, "name": "na"}]}) + "\n"
BIOC = json.dumps({"id": "#", "passages": [{"offset": 0, "text": BODY}]}) + "\n"
XML = f"<document><id>#</id><passage><offset>0</offset><text>{BODY}</text></passage></document>"
CITATION = f"<MedlineCitation><PMID>#</PMID><Article><ArticleTitle>{BODY}</ArticleTitle></Article></MedlineCitation>"
ARTICLE = (
    "<article><front><article-meta><article-id "
    'pub-id-type="pmid">#</article-id></article-meta></front>'
    f"<body><p>{BODY}</p></body></article>"
)
# Format -> what a file begins with, a document, and what it ends with.
FILES = {
    "kazu": ("", KAZU, ""),
    "bioc-json": ("", BIOC, ""),
    "bioc": ("<collection>", XML, "</collection>"),
    "medline": ("<MedlineCitationSet>", CITATION, "</MedlineCitationSet>"),
    "jats": ("<pmc-articleset>", ARTICLE, "</pmc-articleset>"),
    "table": ("id,text\n", f'#,"{BODY}"\n', ""),
    "pubtator": ("", f"#|t|{BODY}\n#|a|\n\n", ""),
    "records": ("", json.dumps({"id": "#", "text": BODY, "entities": []}) + "\n", ""),
    "jsonl": ("", json.dumps({"id": "#", "text": BODY, "fascicle": 1}) + "\n", ""),
}
FEW, MANY = 100, 1_200


@pytest.mark.parametrize("name", FILES)
def test_memory_is_constant(tmp_path: Path, name: str) -> None:
    head, one, tail = FILES[name]
    peaks = {}
    for count in (FEW, FEW, MANY):  # the first time, modules are loaded
        path = tmp_path / str(count)
        path.write_text(
            head + "".join(one.replace("#", str(number)) for number in range(count)) + tail
        )
        peaks[count] = peak(
            lambda path=path: sum(1 for _ in read(path, format=name)), expected=count
        )  # type: ignore[misc]
    assert path.stat().st_size > 2_500_000
    assert peaks[MANY] < peaks[FEW] + 500_000  # the ids alone are kept


def peak(use: Callable[[], int], *, expected: int) -> int:
    """The most bytes that Python holds at once while something is done."""
    tracemalloc.start()
    try:
        assert use() == expected
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
