"""The texts of the 97 articles of CRAFT as our reader of JATS gives them, beside the official plain
texts.

usage: python -m studies.formats.craft_text

The official texts are those to which the offsets of the corpus refer. Paragraphs (lines that are
not empty) are compared as a multiset, so that a difference is counted once, wherever it stands:

- same: the same characters;
- blanks: the same but for blanks, tabs and line ends;
- added heading: a heading that only the official text has, since no element of the XML holds it;
- keywords: a line of keywords that only the official text has, which we keep in ``meta``;
- short abstract: a paragraph of an abstract for tables of contents, which only our text has;
- official alone, ours alone: everything else.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from fascicle.formats import read
from studies.common import write_result

ADDED = {"Abstract", "Footnotes", "Acknowledgements"}
EXAMPLES = 5


def main() -> None:
    """Compares, and writes ``results/craft-text.json``."""
    folder = Path(os.environ["FASCICLE_DATA"]) / "craft"
    kinds: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    lengths: Counter[str] = Counter()
    articles = 0
    for name, official, ours, short in texts_of(folder):
        articles += 1
        lengths.update(official=len(squeezed(official)), ours=len(squeezed(ours)))
        for kind, text in differences(official, ours, short):
            kinds[kind] += 1
            if kind != "same" and len(examples.setdefault(kind, [])) < EXAMPLES:
                examples[kind].append(f"{name}: {text[:100]}")
    report = {
        "articles": articles,
        "characters": dict(lengths),
        "paragraphs": dict(kinds),
        "examples": examples,
    }
    write_result("craft-text", report)
    print(report)


def texts_of(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    """Of each article the name, the official text, ours, and what its abstracts for tables of
    contents say.
    """
    texts = zipfile.ZipFile(folder / "craft-articles-txt.zip")
    rows = texts.read("articles/ids/craft-idmappings.txt").decode().splitlines()
    pmids = {row.split("\t")[0]: row.split("\t")[2] for row in rows if not row.startswith("#")}
    with (
        zipfile.ZipFile(folder / "craft-articles-nxml.zip") as archive,
        tempfile.TemporaryDirectory() as place,
    ):
        for name in sorted(one for one in archive.namelist() if one.endswith(".nxml")):
            path = Path(place) / "a.nxml"
            path.write_bytes(archive.read(name))
            (ours,) = read(path)
            official = texts.read(f"articles/txt/{pmids[Path(name).name]}.txt").decode()
            yield Path(name).name, official, ours.text, short_abstracts(archive.read(name))


def short_abstracts(article: bytes) -> str:
    """The abstracts with a type of their own, without blanks."""
    root = ElementTree.parse(io.BytesIO(article)).getroot()
    found = root.iterfind("front/article-meta/abstract[@abstract-type]")
    return "".join(squeezed("".join(one.itertext())) for one in found)


def squeezed(text: str) -> str:
    """The text without blanks."""
    return re.sub(r"\s+", "", text)


def differences(official: str, ours: str, short: str) -> Iterator[tuple[str, str]]:
    """The kind and the text of each paragraph of one article, see above.

    Args:
        official: the official text.
        ours: our text.
        short: the abstracts for tables of contents, without blanks.
    """
    theirs, mine = (
        Counter(filter(None, map(str.strip, text.split("\n")))) for text in (official, ours)
    )
    for text in (theirs & mine).elements():
        yield "same", text
    left, right = (Counter(map(squeezed, one.elements())) for one in (theirs - mine, mine - theirs))
    for text in (left & right).elements():
        yield "blanks", text
    for text in (left - right).elements():
        is_keywords = text.lower().startswith("keywords:")
        yield (
            "added heading" if text in ADDED else "keywords" if is_keywords else "official alone",
            text,
        )
    for text in (right - left).elements():
        yield "short abstract" if text in short else "ours alone", text


if __name__ == "__main__":
    main()
