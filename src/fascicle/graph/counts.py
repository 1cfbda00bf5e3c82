"""Counts of concepts and their pairs, in a data base on the disk, so that memory stays constant."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from fascicle.core.files.temporary import refuse_foreign
from fascicle.core.mention import Fragments
from fascicle.errors import OutputError
from fascicle.graph.evidence import (
    ConceptMention,
    DocumentConcepts,
    Support,
    first_filled,
    highest_probability,
)
from fascicle.graph.related import ConceptRelation

MOST_CONCEPTS: Final = (
    100  # of a sentence whose pairs are counted; longer ones are lists and tables
)
_WAITING: Final = 100_000  # rows that are kept in memory
# One process has the file, and after a kill or a loss of power it has what was saved last.
_MODE: Final = """
PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -65536;
"""
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS saved (state BLOB);
CREATE TABLE IF NOT EXISTS concept (
    number INTEGER PRIMARY KEY, concept TEXT UNIQUE, name TEXT, same TEXT,
    mentions INTEGER DEFAULT 0, sentences INTEGER DEFAULT 0, documents INTEGER DEFAULT 0);
CREATE TABLE IF NOT EXISTS type (
    concept INTEGER, type TEXT, mentions INTEGER, PRIMARY KEY (concept, type)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pair (
    first INTEGER, second INTEGER, section TEXT, source TEXT,
    sentences INTEGER, documents INTEGER, negated INTEGER, uncertain INTEGER, probability REAL,
    earliest TEXT, latest TEXT,
    PRIMARY KEY (first, second, section, source)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS related (
    first INTEGER, second INTEGER, section TEXT, source TEXT,
    sentences INTEGER, documents INTEGER, negated INTEGER, uncertain INTEGER, probability REAL,
    earliest TEXT, latest TEXT, type TEXT,
    PRIMARY KEY (first, second, type, section, source)) WITHOUT ROWID;
"""
_ADD: Final = """
INSERT INTO {} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?10, ''), nullif(?10, '') {})
ON CONFLICT DO UPDATE SET
    sentences = sentences + excluded.sentences, documents = documents + excluded.documents,
    negated = negated + excluded.negated, uncertain = uncertain + excluded.uncertain,
    probability = max(probability, excluded.probability),
    earliest = coalesce(min(earliest, excluded.earliest), earliest, excluded.earliest),
    latest = coalesce(max(latest, excluded.latest), latest, excluded.latest)
"""
_ADD_PAIR: Final = _ADD.format("pair", "")
_ADD_RELATED: Final = _ADD.format("related", ", ?11")
_ADD_TYPE: Final = """
INSERT INTO type VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET mentions = mentions + excluded.mentions
"""
_ADD_COUNTS: Final = """
UPDATE concept SET mentions = mentions + ?, sentences = sentences + ?, documents = documents + ?,
    name = coalesce(nullif(name, ''), ?), same = coalesce(nullif(same, ''), ?)
WHERE number = ?
"""
_CONCEPTS: Final = """
SELECT concept, name, same, (
    SELECT type FROM type WHERE type.concept = number ORDER BY type.mentions DESC, type LIMIT 1
), mentions, sentences, documents FROM concept ORDER BY number
"""
_EDGES: Final = """
SELECT a.concept, b.concept, a.sentences, b.sentences, {type}, edge.section, edge.source,
    edge.sentences, edge.documents, edge.negated, edge.uncertain, edge.probability,
    edge.earliest, edge.latest
FROM {table} edge JOIN concept a ON a.number = first JOIN concept b ON b.number = second
ORDER BY first, second, {order} section, source
"""
_PAIRS: Final = _EDGES.format(type="''", table="pair", order="")
_RELATED: Final = _EDGES.format(type="edge.type", table="related", order="edge.type,")


_NONE: Final = (0, 0, 0, "", "")  # counts of a concept that does not wait, its name and CURIEs


class ConceptCounts(NamedTuple):
    """A concept, and how often it occurs."""

    concept: str
    name: str
    same: tuple[str, ...]
    type: str
    mentions: int
    sentences: int
    documents: int


class PairCounts(NamedTuple):
    """Two concepts, the number of sentences with each of them, what supports the pair, and the type
    of a relation.
    """

    concepts: tuple[str, str]
    sentences: tuple[int, int]
    support: Support
    type: str


class ConceptBase:
    """Counts of concepts and pairs; a context manager that closes the data base, and removes it,
    unless an error ends what has a saved state.

    Attributes:
        sentences: of all documents.
        crowded: sentences with too many concepts to count their pairs.
        state: what was saved last with the counts; empty if nothing was.
    """

    def __init__(self, path: Path) -> None:
        """Opens the data base of an interrupted process, or creates one in a new file.

        Raises:
            OutputError: another process has it.
        """
        self._path = path
        self._open()

    def _open(self) -> None:
        self.sentences = self.crowded = 0
        self._numbers: dict[str, int] = {}
        self._pairs: list[tuple[Any, ...]] = []
        self._related: list[tuple[Any, ...]] = []
        self._concepts = dict[int, tuple[int, int, int, str, str]]()
        self._types = Counter[tuple[int, str]]()
        for path in self._files():
            refuse_foreign(path)
        self._path.touch()  # its errors say why, and those of SQLite do not
        self._base = sqlite3.connect(self._path, timeout=0, isolation_level=None)
        try:
            self._base.executescript(f"{_MODE} {_TABLES} BEGIN;")
            saved = self._base.execute("SELECT state FROM saved").fetchone()
        except sqlite3.DatabaseError as error:
            self._base.close()
            code = error.sqlite_errorcode & 0xFF
            if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
                self._remove()  # so the graph is made anew
                self._open()
                return
            if code != sqlite3.SQLITE_BUSY:
                raise
            raise OutputError(
                f"another process is writing the same output ({self._path}); wait for it, or stop "
                "it"
            ) from None
        self.state: bytes = saved[0] if saved else b""

    def __enter__(self) -> Self:
        """Returns itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Closes the data base, and removes it if it is of no use any more."""
        self._base.close()
        if kind is None or not self.state:
            self._remove()

    def _remove(self) -> None:
        for path in self._files():
            path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return [self._path.with_name(f"{self._path.name}{end}") for end in ("", "-wal")]

    def restart(self) -> None:
        """Removes all counts, and what was saved."""
        self._base.close()
        self._remove()
        self._open()

    def save(self, state: bytes) -> None:
        """Saves all counts together with a state."""
        self._flush()
        self._base.execute("DELETE FROM saved")
        self._base.execute("INSERT INTO saved VALUES (?)", (state,))
        self._base.execute("COMMIT")
        self._base.execute("BEGIN")
        self.state = state

    def add(self, evidence: DocumentConcepts, relations: Iterable[ConceptRelation] = ()) -> None:
        """Counts the evidence of one document, and relations between its concepts."""
        self.sentences += len(evidence.sentences)
        places: dict[int, dict[str, list[ConceptMention]]] = defaultdict(lambda: defaultdict(list))
        for occurrence in evidence.occurrences:
            places[occurrence.sentence][occurrence.concept].append(occurrence)
        self._add_concepts(evidence.concepts.values())
        self._add_pairs(places.values(), evidence.date)
        self._add_related(relations, evidence.date)
        if len(self._pairs) + len(self._related) + len(self._numbers) > _WAITING:
            self._flush()
            self._numbers.clear()

    def _add_concepts(self, concepts: Iterable[Sequence[ConceptMention]]) -> None:
        for occurrences in concepts:
            number = self._number(occurrences[0].concept)
            mentions, sentences, documents, name, same = self._concepts.get(number, _NONE)
            name = name or first_filled([occurrence.link.name for occurrence in occurrences])
            same = same or first_filled(["|".join(each.link.same) for each in occurrences])
            mentions += len(occurrences)
            sentences += len({occurrence.sentence for occurrence in occurrences})
            self._concepts[number] = mentions, sentences, documents + 1, name, same
            self._types.update([(number, occurrence.mention.type) for occurrence in occurrences])

    def _number(self, concept: str) -> int:
        number = self._numbers.get(concept)
        if number is None:
            self._base.execute(
                "INSERT OR IGNORE INTO concept (concept, name, same) VALUES (?, '', '')",
                (concept,),
            )
            query = "SELECT number FROM concept WHERE concept = ?"
            (number,) = self._base.execute(query, (concept,)).fetchone()
            self._numbers[concept] = int(number)
        return int(number)

    def _add_pairs(
        self, places: Iterable[Mapping[str, Sequence[ConceptMention]]], date: str
    ) -> None:
        counted = set[tuple[int, int]]()
        for concepts in places:
            if len(concepts) > MOST_CONCEPTS:
                self.crowded += 1
                continue
            sides = {self._numbers[name]: _side_of(of) for name, of in concepts.items()}
            for first, second in combinations(sorted(sides), 2):
                side, partner = sides[first], sides[second]
                if len(side.spans | partner.spans) < 2:
                    continue  # they are links of the same words
                is_new = (first, second) not in counted
                counted.add((first, second))
                row = _pair_row(side, partner, is_new=is_new)
                self._pairs.append((first, second, *row, date))
            if len(self._pairs) > _WAITING:
                self._flush()

    def _add_related(self, relations: Iterable[ConceptRelation], date: str) -> None:
        counted = set[tuple[int, int, str]]()
        for relation in relations:
            ends = self._numbers[relation.subject], self._numbers[relation.object]
            facts, key = relation.facts, (*ends, relation.type)
            counts = (1, int(key not in counted), "negated" in facts, "uncertain" in facts)
            counted.add(key)
            place = relation.section, "|".join(sorted(relation.sources))
            row = (*ends, *place, *counts, relation.probability, date, relation.type)
            self._related.append(row)

    def _flush(self) -> None:
        self._pairs.sort()  # rows that are near each other in the table are written together
        self._base.executemany(_ADD_PAIR, self._pairs)
        self._base.executemany(_ADD_RELATED, self._related)
        concepts = ((*counts, number) for number, counts in self._concepts.items())
        self._base.executemany(_ADD_COUNTS, concepts)
        self._base.executemany(_ADD_TYPE, ((*key, count) for key, count in self._types.items()))
        for waiting in (self._pairs, self._related, self._concepts, self._types):
            waiting.clear()

    def concepts(self) -> Iterator[ConceptCounts]:
        """Yields all concepts, in the order in which they occurred first."""
        self._flush()
        for concept, name, same, *rest in self._base.execute(_CONCEPTS):
            yield ConceptCounts(concept, name, tuple(filter(None, same.split("|"))), *rest)

    def pairs(self) -> Iterator[PairCounts]:
        """Yields all pairs, in the order in which their concepts occurred first."""
        return self._edges(_PAIRS)

    def related(self) -> Iterator[PairCounts]:
        """Yields subject and object of all relations of each type, in the order of `pairs`."""
        return self._edges(_RELATED)

    def _edges(self, query: str) -> Iterator[PairCounts]:
        self._flush()
        rows = self._base.execute(query)
        for key, group in groupby(rows, key=itemgetter(0, 1, 2, 3, 4)):
            yield PairCounts(key[:2], key[2:4], _merged([row[5:] for row in group]), key[4])


class _Side(NamedTuple):
    """Mentions of one concept in a sentence, as one side of pairs."""

    spans: set[Fragments]
    sources: frozenset[str]
    facts: frozenset[str]
    probability: float
    place: tuple[int, str]  # of the first one: its start, and its section


def _side_of(occurrences: Sequence[ConceptMention]) -> _Side:
    first = occurrences[0]
    if len(occurrences) == 1:  # most concepts of a sentence
        place = first.mention.start, first.section
        return _Side({first.mention.spans}, first.sources, first.facts, first.probability, place)
    return _Side(
        {occurrence.mention.spans for occurrence in occurrences},
        frozenset().union(*(occurrence.sources for occurrence in occurrences)),
        frozenset().union(*(occurrence.facts for occurrence in occurrences)),
        highest_probability(occurrences),
        min((occurrence.mention.start, occurrence.section) for occurrence in occurrences),
    )


def _pair_row(first: _Side, second: _Side, *, is_new: bool) -> tuple[Any, ...]:
    """Returns the cells of a pair in a sentence, after the numbers of the concepts."""
    sources, facts = "|".join(sorted(first.sources | second.sources)), first.facts | second.facts
    counts = (1, int(is_new), int("negated" in facts), int("uncertain" in facts))
    _, section = min(first.place, second.place)
    return section, sources, *counts, min(first.probability, second.probability)


def _merged(rows: Sequence[tuple[Any, ...]]) -> Support:
    """Returns the support of one pair from its rows."""
    if len(rows) == 1:  # most pairs
        return _only(rows[0])
    sections, sources = Counter[str](), set[str]()
    for section, source, count, *_ in rows:
        sections[section] += count
        sources.update(source.split("|"))
    _, _, counts, documents, negated, uncertain, probabilities, *dates = zip(*rows, strict=True)
    first, last = (tuple(filter(None, column)) for column in dates)
    return Support(
        count=sum(counts),
        documents=sum(documents),
        sections=sections,
        sources=sources,
        negated=sum(negated),
        uncertain=sum(uncertain),
        probability=max(probabilities),
        dates=(min(first, default=""), max(last, default="")),
    )


def _only(row: tuple[Any, ...]) -> Support:
    section, source, count, documents, negated, uncertain, probability, first, last = row
    return Support(
        count=count,
        documents=documents,
        sections={section: count},
        sources=source.split("|"),
        negated=negated,
        uncertain=uncertain,
        probability=probability,
        dates=(first or "", last or ""),
    )
