"""Matchers of names that are measured beside each other, each behind one way to load, scan and
look up.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from studies.packs.literal import lowered

OURS: Final = "fascicle"
TWIN: Final = "twin"
WINDOW: Final = 200  # characters that marisa-trie is asked for at a token start; no name has more
MODULES: Final = {
    OURS: "fascicle",
    TWIN: "fascicle",
    "mentions": "fascicle",
    "pyahocorasick": "ahocorasick",
    "ahocorasick_rs": "ahocorasick_rs",
    "marisa-trie": "marisa_trie",
    "spacy": "spacy",
}
_SAVE: Final = (
    "import sys, pathlib, studies.speed.matchers as p; p.save_marisa(pathlib.Path(sys.argv[1]))"
)
Scan = Callable[[Sequence[str]], int]


class Ready(NamedTuple):
    """A matcher that has its names.

    Attributes:
        scan: finds names in texts, and returns how many.
        lookup: finds names or keys exactly, and returns how many there are; ``None`` where that is
            not measured.
        opened: seconds of processor time until it was ready.
    """

    scan: Scan
    lookup: Callable[[Sequence[str]], int] | None
    opened: float


def names_of(folder: Path, most: int | None = None) -> list[str]:
    """The names, as they were written for the build."""
    found = []
    with (folder / "names.tsv").open(encoding="utf-8") as stream:
        next(stream)
        for line in stream:
            found.append(line.rstrip("\n").partition("\t")[2])
            if len(found) == most:
                break
    return found


def _fascicle(folder: Path, names: Sequence[str]) -> Ready:
    from fascicle.core.document import Document
    from fascicle.core.stream import portions
    from fascicle.terms.keys.key import TokenReader
    from fascicle.terms.pack.pack import Pack
    from fascicle.terms.recognising import PORTION
    from fascicle.terms.scanning.table import NameTable

    started = time.process_time()
    pack = Pack.open(folder / "pack")
    table, reader = NameTable.open(pack.table), TokenReader()
    opened = time.process_time() - started

    def scan(texts: Sequence[str]) -> int:
        documents = (Document(id="", text=text) for text in texts)
        together = ([one.text for one in few] for few in portions(documents, characters=PORTION))
        return sum(len(table.find(reader.read(few)).rows) for few in together)

    return Ready(scan, lambda keys: len(pack.rows(keys)[1]), opened)


def _mentions(folder: Path, names: Sequence[str]) -> Ready:
    from fascicle.core.document import Document
    from fascicle.terms.pack.pack import Pack
    from fascicle.terms.recognising import PackRecogniser

    started = time.process_time()
    recogniser = PackRecogniser({"pack": Pack.open(folder / "pack")})
    opened = time.process_time() - started

    def scan(texts: Sequence[str]) -> int:
        documents = [Document(id=str(number), text=text) for number, text in enumerate(texts)]
        return sum(len(patch.add) for patch in recogniser.predict(documents))

    return Ready(scan, None, opened)


def _marisa(folder: Path, names: Sequence[str]) -> Ready:
    import marisa_trie

    place = folder / "names.marisa"
    if not place.exists():  # built by another process, so that this one only maps it
        paths = os.pathsep.join(filter(None, sys.path))
        subprocess.run(
            [sys.executable, "-c", _SAVE, str(folder)],
            check=True,
            env={**os.environ, "PYTHONPATH": paths},
        )
    started = time.process_time()
    trie = marisa_trie.Trie()
    trie.mmap(str(place))
    opened = time.process_time() - started

    def found(text: str) -> list[tuple[int, int]]:
        text, spans, inside = lowered(text), [], False
        for start, sign in enumerate(text):
            begins = not (inside and sign.isalnum()) and not sign.isspace()
            inside = sign.isalnum()
            if begins:
                for name in trie.iter_prefixes(text[start : start + WINDOW]):
                    end = start + len(name)
                    if _closed(text, end):
                        spans.append((start, end))
        return spans

    def lookup(asked: Sequence[str]) -> int:
        return sum(name in trie for name in asked)

    return Ready(lambda texts: sum(len(found(text)) for text in texts), lookup, opened)


def save_marisa(folder: Path) -> None:
    """Writes the trie of marisa-trie to a file."""
    import marisa_trie

    marisa_trie.Trie([lowered(name) for name in names_of(folder)]).save(
        str(folder / "names.marisa")
    )


def _pyahocorasick(folder: Path, names: Sequence[str]) -> Ready:
    import ahocorasick

    started = time.process_time()
    automaton = ahocorasick.Automaton(ahocorasick.STORE_LENGTH)
    for name in names:
        automaton.add_word(name)
    automaton.make_automaton()
    opened = time.process_time() - started

    def found(text: str) -> list[tuple[int, int]]:
        text = lowered(text)
        spans = ((last + 1 - length, last + 1) for last, length in automaton.iter(text))
        return [span for span in spans if _between(text, *span)]

    return Ready(lambda texts: sum(len(found(text)) for text in texts), None, opened)


def _ahocorasick_rs(folder: Path, names: Sequence[str]) -> Ready:
    import ahocorasick_rs

    started = time.process_time()
    automaton = ahocorasick_rs.AhoCorasick(names)
    opened = time.process_time() - started

    def found(text: str) -> list[tuple[int, int]]:
        text = lowered(text)
        spans = automaton.find_matches_as_indexes(text, overlapping=True)
        return [(start, end) for _, start, end in spans if _between(text, start, end)]

    return Ready(lambda texts: sum(len(found(text)) for text in texts), None, opened)


def _spacy(folder: Path, names: Sequence[str]) -> Ready:
    import spacy
    from spacy.matcher import PhraseMatcher

    started = time.process_time()
    english = spacy.blank("en")
    matcher = PhraseMatcher(english.vocab, attr="LOWER")
    for start in range(0, len(names), 10_000):
        matcher.add("x", [english.make_doc(name) for name in names[start : start + 10_000]])
    opened = time.process_time() - started
    return Ready(
        lambda texts: sum(len(matcher(english.make_doc(text))) for text in texts), None, opened
    )


def _closed(text: str, end: int) -> bool:
    return end == len(text) or not (text[end].isalnum() and text[end - 1].isalnum())


def _between(text: str, start: int, end: int) -> bool:
    return (start == 0 or not (text[start].isalnum() and text[start - 1].isalnum())) and _closed(
        text, end
    )


LOADERS: Final[dict[str, Callable[[Path, Sequence[str]], Ready]]] = {
    OURS: _fascicle,
    TWIN: _fascicle,
    "mentions": _mentions,
    "marisa-trie": _marisa,
    "pyahocorasick": _pyahocorasick,
    "ahocorasick_rs": _ahocorasick_rs,
    "spacy": _spacy,
}
