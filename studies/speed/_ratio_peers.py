"""The other side of ``ratios.py``: libraries at everyday jobs, in an environment without Fascicle.

Each line of standard input is the name of a job; the answer is a line of JSON with the CPU seconds
of the job, and the number of records.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

Answer = tuple[float, int]  # CPU seconds, and records
_BY_HAND: Final = "a loop by hand"
_WORD: Final = re.compile(r"\w+|[^\w\s]")
_version: Final = importlib.metadata.version


def main() -> None:
    """Does the jobs that standard input names."""
    folder = Path(sys.argv[1])
    for line in sys.stdin:
        library, job = JOBS[line.strip()]
        seconds, records = job(folder)
        version = library if library == _BY_HAND else f"{library} {_version(library)}"
        sys.stdout.write(
            json.dumps({"seconds": seconds, "records": records, "peer": version}) + "\n"
        )
        sys.stdout.flush()


def _timed(records: Callable[[], Iterable[Any]]) -> Answer:
    started = time.process_time()
    count = sum(1 for _ in records())
    return time.process_time() - started, count


def _conll(folder: Path) -> Answer:
    import conllu

    with (folder / "a.conll").open(encoding="utf-8") as stream:
        return _timed(lambda: conllu.parse_incr(stream, fields=["form", "tag"]))


def _pubtator(folder: Path) -> Answer:
    from bioc import pubtator

    with (folder / "a.pubtator").open(encoding="utf-8") as stream:
        return _timed(lambda: pubtator.load(stream))


def _bioc_xml(folder: Path) -> Answer:
    from bioc import biocxml

    with (folder / "a.bioc.xml").open(encoding="utf-8") as stream:
        return _timed(lambda: biocxml.load(stream).documents)


def _bioc_json(folder: Path) -> Answer:
    from bioc import biocjson

    with (folder / "a.bioc.json").open(encoding="utf-8") as stream:
        return _timed(lambda: biocjson.load(stream).documents)


def _medline(folder: Path) -> Answer:
    import pubmed_parser

    return _timed(
        lambda: pubmed_parser.parse_medline_xml(
            str(folder / "pubmed.xml.gz"), year_info_only=True, reference_list=False
        )
    )


def _read_docs(folder: Path) -> Answer:
    import spacy
    from spacy.tokens import DocBin

    words = spacy.blank("en").vocab
    return _timed(lambda: DocBin().from_disk(folder / "a.spacy").get_docs(words))


@cache
def _annotated(folder: Path) -> list[tuple[list[str], list[bool], list[tuple[int, int, str, str]]]]:
    import spacy
    from spacy.tokens import DocBin

    return [
        (
            [token.text for token in doc],
            [bool(token.whitespace_) for token in doc],
            [(span.start_char, span.end_char, span.label_, span.kb_id_) for span in doc.ents],
        )
        for doc in DocBin().from_disk(folder / "a.spacy").get_docs(spacy.blank("en").vocab)
    ]


def _write_docs(folder: Path) -> Answer:
    import spacy
    from spacy.tokens import Doc, DocBin

    texts, vocabulary, docs = _annotated(folder), spacy.blank("en").vocab, DocBin()
    started = time.process_time()
    for words, spaces, spans in texts:
        doc = Doc(vocabulary, words=words, spaces=spaces)
        doc.ents = [
            doc.char_span(start, end, label=label, kb_id=concept)
            for start, end, label, concept in spans
        ]
        docs.add(doc)
    docs.to_disk(folder / "peer.spacy")
    return time.process_time() - started, len(texts)


@cache
def _automaton(folder: Path) -> Any:
    import ahocorasick_rs

    names = (folder / "names.txt").read_text(encoding="utf-8").splitlines()
    longest = ahocorasick_rs.MatchKind.LeftmostLongest
    return ahocorasick_rs.AhoCorasick(names, matchkind=longest)


def _scan(folder: Path) -> Answer:
    automaton = _automaton(folder)
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    started, places = time.process_time(), 0
    for text in texts:
        lower = text.lower()
        for _, start, end in automaton.find_matches_as_indexes(lower):
            places += not (
                (start and lower[start - 1].isalnum())
                or (end < len(lower) and lower[end].isalnum())
            )
    del places  # some are lost to names that begin earlier within a word; the records are the texts
    return time.process_time() - started, len(texts)


def _brat(folder: Path) -> Answer:
    return _timed(lambda: map(_brat_document, sorted((folder / "brat").glob("*.txt"))))


def _brat_document(path: Path) -> tuple[str, dict[str, tuple[str, int, int, list[str]]]]:
    """The text of a document, and type, offsets and concepts of its names."""
    names: dict[str, tuple[str, int, int, list[str]]] = {}
    for line in path.with_suffix(".ann").read_text(encoding="utf-8").splitlines():
        identifier, content, *_ = line.split("\t")
        if identifier[0] == "T":
            kind, place = content.split(" ", 1)
            offsets = place.replace(";", " ").split(" ")
            names[identifier] = kind, int(offsets[0]), int(offsets[-1]), []
        elif identifier[0] == "N":
            _, of, concept = content.split(" ", 2)
            names[of][3].append(concept)
    return path.read_text(encoding="utf-8"), names


def _open_names(folder: Path) -> Answer:
    def opened() -> dict[tuple[str, ...], str]:  # by words, as texts are looked up in it
        with (folder / "names.tsv").open(encoding="utf-8") as lines:
            rows = (line.rstrip("\n").split("\t") for line in lines)
            return {tuple(_WORD.findall(name.lower())): kind for kind, name in rows}

    return _timed(lambda: (opened(),))


def _abbreviations(folder: Path) -> Answer:
    from abbreviation_extractor import extract_abbreviation_definition_pairs

    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    return _timed(lambda: map(extract_abbreviation_definition_pairs, texts))


JOBS: Final = MappingProxyType(
    {
        "CoNLL": ("conllu", _conll),
        "PubTator": ("bioc", _pubtator),
        "BioC XML": ("bioc", _bioc_xml),
        "BioC JSON": ("bioc", _bioc_json),
        "MEDLINE": ("pubmed_parser", _medline),
        "DocBin, read": ("spacy", _read_docs),
        "brat": (_BY_HAND, _brat),
        "DocBin, written": ("spacy", _write_docs),
        "names of the shipped pack in texts": ("ahocorasick_rs", _scan),
        "names of the shipped pack as TSV, opened": (_BY_HAND, _open_names),
        "abbreviations": ("abbreviation-extractor", _abbreviations),
    }
)

if __name__ == "__main__":
    main()
