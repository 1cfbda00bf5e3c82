"""Findings about copies of texts, and what training must leave out: as a list, or of raw text
that passes by.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from typing import Any, Final

from fascicle.core.document import Document
from fascicle.core.files.source import Source
from fascicle.core.mention import Span
from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.evaluation.doctor.checks.contract import (
    CheckSettings,
    Corpus,
    FindHits,
    Hit,
    HitsOrNotes,
)
from fascicle.evaluation.doctor.copies import CopySearch, Foreign, Group, Kind, Relation
from fascicle.evaluation.doctor.fingerprints import normal_words
from fascicle.evaluation.doctor.parts import CheckedDocument, CheckedPart, GivenPart, load_parts
from fascicle.formats.exclusions import Exclusion, exclusions_by_key, read_exclusions
from fascicle.formats.files import ORIGINAL_ID
from fascicle.formats.predictions import text_hash
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import ReadRequest, expand_paths, read_file

KINDS: Final[tuple[Kind, ...]] = ("duplicate", "near-duplicate", "shared-sentence")
RELATIONS: Final[tuple[Relation, ...]] = ("in-part", "across-parts", "across-corpora")
_NEVER_LEARNED: Final = ("test", "dev")  # these stay where they are, whatever they are copies of


def copies(kind: Kind, relation: Relation) -> FindHits:
    """Makes a check for one kind of copies.

    A case is a document that has a copy in another part; within a part, it is a copy of an earlier
    document.
    """

    def find(corpus: Corpus) -> HitsOrNotes:
        cases: set[tuple[str, int]] = set()
        identical = Counter[str]()
        left_out = set[tuple[str, str]]()
        for group in corpus.copies.groups:
            if group.kind != kind or group.relation != relation:
                continue
            left_out |= {(other.path, other.id) for other in group.copies}
            for item, other, hit in _hits(group):
                if (group.where, item.number) not in cases:
                    cases.add((group.where, item.number))
                    identical[group.where] += item.sha256 == other.sha256
                    yield hit
        if cases and relation != "in-part":
            yield f"Documents that training must leave out for it: {len(left_out):,}."
        if kind == "duplicate" and (counts := +identical):
            counts_text = ", ".join(f"{where} {count:,}" for where, count in counts.items())
            yield f"The same to the character: {counts_text}."

    return find


def short_copies(corpus: Corpus) -> HitsOrNotes:
    """Finds short documents with copies anywhere."""
    for relation in RELATIONS:
        yield from (
            hit for hit in copies("short-duplicate", relation)(corpus) if isinstance(hit, Hit)
        )


def shared_id(corpus: Corpus) -> HitsOrNotes:
    """Finds documents whose id is that of a document in another part or corpus."""
    cases: set[tuple[int, str]] = set()
    for item, other in corpus.copies.shared_ids:
        where = f"{item.part.name} in {other.part.name}"
        if (item.number, where) not in cases:
            cases.add((item.number, where))
            same = "the same text" if item.sha256 == other.sha256 else "another text"
            yield Hit(item=item, where=where, message=f"{other.path} has {other.id} with {same}")


def not_compared(corpus: Corpus) -> HitsOrNotes:
    """Documents whose near duplicates were not sought."""
    for _ in range(corpus.copies.not_compared):
        yield Hit(where="all parts")


def exclusions(corpus: Corpus) -> list[Exclusion]:
    """Lists the documents to leave out of training: one of each pair of copies, with its best
    reason.

    Documents of a part that must be kept apart come before their copies in others: test, dev,
    train, corpora in the order given, other corpora. A document stays if all that it is a copy of
    is left out itself, so that of a chain of near duplicates every second one is left; one of test
    is never listed. Copies of short texts are not either.
    """
    rows: dict[tuple[str, str], tuple[tuple[tuple[int, int], int, float, int], Exclusion]] = {}
    groups = [group for group in corpus.copies.groups if group.kind != "short-duplicate"]
    for group in sorted(groups, key=lambda g: (g.originals[0].part.rank, g.originals[0].number)):
        original = group.originals[0]
        if (original.path, original.id) in rows and original.part.role not in _NEVER_LEARNED:
            continue
        for other in group.copies:
            weight = (
                original.part.rank,
                KINDS.index(group.kind),
                -group.similarity,
                original.number,
            )
            key = (other.path, other.id)
            if other.part.role != "test" and (key not in rows or weight < rows[key][0]):
                rows[key] = weight, _row(group, original, other)
    return [row for _, row in rows.values()]


def _hits(group: Group) -> Iterator[tuple[CheckedDocument, CheckedDocument | Foreign, Hit]]:
    """Yields the documents that are cases, each with one of its copies."""
    if group.relation == "in-part":
        for other in group.copies:
            if isinstance(other, CheckedDocument):
                hit = Hit(
                    item=other,
                    where=group.where,
                    message=_message(group, other, group.originals[0]),
                )
                yield other, group.originals[0], hit
        return
    same = {other.sha256: other for other in group.copies}
    for number, item in enumerate(group.originals):
        spans = (group.sentences[number],) if group.sentences else ()
        other = same.get(item.sha256, group.copies[0])
        yield (
            item,
            other,
            Hit(item=item, spans=spans, where=group.where, message=_message(group, item, other)),
        )


def _message(group: Group, item: CheckedDocument, other: CheckedDocument | Foreign) -> str:
    place = f"{other.id} of {other.path}"
    if group.kind == "near-duplicate":
        return f"{place}, similarity {group.similarity:.2f}"
    if group.kind == "shared-sentence":
        return f"in {place}"
    return f"{place}{', the same to the character' if item.sha256 == other.sha256 else ''}"


def _row(group: Group, original: CheckedDocument, other: CheckedDocument | Foreign) -> Exclusion:
    return Exclusion(
        corpus=other.path,
        part=other.part.role,
        document=other.id,
        sha256=other.sha256,
        reason=group.kind,
        similarity=group.similarity if group.kind != "shared-sentence" else None,
        of_corpus=original.path,
        of_part=original.part.role,
        of_document=original.id,
    )


_SAME_ID: Final = "same-id"
_LONG: Final = 12  # words, without punctuation, that nobody writes a second time by habit
_RULE: Final = f"a title, a sentence of {_LONG} words, or two others\n"
_PASSING: Final = CheckedPart(name="texts", role="against")
# the same article is 123 in one corpus and PMID123 in another
_PREFIX: Final = re.compile(r"^pmid\W*")
_WHOLE: Final = ("duplicate", "short-duplicate", "near-duplicate")
_SHARED: Final = "shared-sentence"
_EXCLUDED: Final = "excluded"
_Reasons = Callable[[Sequence[Document]], list[str]]


class Screen:
    """Compares documents that pass by with protected ones, in memory that does not grow with their
    number.

    A document is left out if its id is that of a protected one, if the two are duplicates or near
    duplicates, or if sentences of the protected one stand anywhere in it: its title, a sentence of
    `_LONG` words, or two others; see `fascicle.evaluation.doctor.copies`. One short sentence is not
    enough: against the test parts of six corpora, 65 of 21,706 texts shared one sentence of eight
    words or more, and only those that such texts share by habit, such as "P < 0.05 was considered
    statistically significant" and "All authors read and approved the final manuscript". None of
    them had twelve words.

    Attributes:
        sha256: of the texts that nothing may be learned from, and of their ids.
    """

    def __init__(self, places: Sequence[GivenPart]) -> None:
        """Reads and indexes the protected documents; what is a copy is that of the usual settings
        of ``corpus check``.

        Args:
            places: where they are.

        Raises:
            InputError: one cannot be read to its end, or they hold no document.
        """
        usual = CheckSettings()
        items, unread = load_parts(places)
        if unread:
            raise InputError(
                f"{unread[0].place.path} cannot be read to its end, so its copies cannot be left "
                f"out: {unread[0].message}",
                file=unread[0].place.path,
            )
        if not items:
            raise InputError(
                f"{', '.join(place.path for place in places)}: no document to leave out copies of"
            )
        fingerprint = "".join(f"{item.own_id} {item.sha256}\n" for item in items)
        self.sha256 = hashlib.sha256(
            (_RULE + fingerprint).encode("utf-8", "surrogatepass")
        ).hexdigest()
        self._ids = {_bare(item.own_id) for item in items if item.own_id}
        self._search = CopySearch(items, threshold=usual.near, min_words=usual.min_words)
        self._is_telling: list[bool] = []  # of each sentence of the index
        self._documents_of: list[set[int]] = []
        for owners in self._search.sentences():
            self._is_telling.append(any(starmap(_is_telling, owners)))
            self._documents_of.append({item.number for item, _ in owners})

    @property
    def not_compared(self) -> int:
        """Documents whose near duplicates were not sought, for there were too many candidates."""
        return self._search.near.skipped

    def reasons(self, documents: Sequence[Document]) -> list[str]:
        """Returns the reasons why each document must be left out; empty for one that may stay.

        Args:
            documents: any; the answer for one does not depend on the others.
        """
        passing = [
            (Foreign(part=_PASSING, path=str(at), id=document.id, sha256=""), document.text)
            for at, document in enumerate(documents)
        ]
        self._search.near.renew()
        self._search.compare_wholes(passing)
        reasons = [
            _SAME_ID if _bare(document.meta.get(ORIGINAL_ID, document.id)) in self._ids else ""
            for document in documents
        ]
        for group in sorted(self._search.groups, key=lambda group: _WHOLE.index(group.kind)):
            for other in group.copies:
                if other.part == _PASSING:
                    reasons[int(other.path)] = reasons[int(other.path)] or group.kind
        self._search.groups.clear()
        for at in self._sharing([text for _, text in passing]):
            reasons[at] = reasons[at] or _SHARED
        return reasons

    def _sharing(self, texts: Sequence[str]) -> set[int]:
        """Finds texts that contain an identifying sentence, or several sentences, of one
        protected document.
        """
        telling: set[int] = set()
        # text -> document -> its other sentences
        short: defaultdict[int, Counter[int]] = defaultdict(Counter)
        for sentence, at in self._search.sentences_in(texts):
            if self._is_telling[sentence]:
                telling.add(at)
            short[at].update(self._documents_of[sentence])
        return telling | {at for at, shared in short.items() if max(shared.values()) > 1}


def _bare(identifier: str) -> str:
    """Returns an id without case and without the name of its register."""
    return _PREFIX.sub("", identifier.casefold())


def _is_telling(item: CheckedDocument, span: Span) -> bool:
    """True if a sentence identifies its document: a long one, or the title of a document of
    several sentences.
    """
    start, end = span
    is_title = len(item.sentences) > 1 and start == int(item.sentences[0, 0])
    return is_title or len(normal_words(item.text[start:end])) >= _LONG


@dataclass(frozen=True, kw_only=True)
class ProtectedTexts:
    """Protected texts, which must not be used for training.

    Attributes:
        exclude: path of the exclusion list; empty for none.
        tests: functions that return for each document the reason to leave it out; empty for one
            that may stay.
        sha256: of the list and the corpora.
        screen: the one of them that compares texts, if there is one.
    """

    exclude: str
    tests: tuple[_Reasons, ...]
    sha256: str
    screen: Screen | None

    def reasons(self, documents: Sequence[Document]) -> list[str]:
        """Returns the first reason to leave out each document; empty for one that may stay."""
        answers = [ask(documents) for ask in self.tests]
        return [
            next((reasons[at] for reasons in answers if reasons[at]), "")
            for at in range(len(documents))
        ]

    def notes(self, left_out: Mapping[str, int]) -> Iterator[str]:
        """Yields notes for the user at the end.

        Args:
            left_out: reason -> number of documents.
        """
        if self.exclude and not left_out.get(_EXCLUDED):
            yield f"note: {self.exclude} names none of the texts"
        if self.screen is not None and self.screen.not_compared:
            yield (
                f"note: near duplicates of {plural(self.screen.not_compared, 'text')} were not "
                "sought, for there were too many candidates"
            )


def read_protected(*, exclude: str, against: Sequence[str], reading: ReadRequest) -> ProtectedTexts:
    """Reads the exclusion list and the protected corpora.

    Args:
        exclude: path of an exclusion list of ``fascicle corpus check``; empty for none.
        against: protected corpora.
        reading: format and options of the corpora.

    Raises:
        InputError: one of them cannot be read to its end, or the corpora hold no document.
    """
    tests: list[_Reasons] = []
    screen, digest = None, hashlib.sha256()
    if exclude:
        rows = list(read_exclusions(Source(path=exclude)))
        tests.append(partial(_list_reasons, exclusions_by_key(rows)))
        digest.update(repr(rows).encode())
    if against:
        paths = expand_paths(against, reading)
        screen = Screen([_place(path, reading) for path in paths])
        tests.append(screen.reasons)
        digest.update(screen.sha256.encode())
    return ProtectedTexts(
        exclude=exclude, tests=tuple(tests), sha256=digest.hexdigest(), screen=screen
    )


def _list_reasons(
    keys_of_list: Mapping[tuple[str, str], Any], documents: Sequence[Document]
) -> list[str]:
    keys = [(document.id, text_hash(document.text)) for document in documents]
    return [
        _EXCLUDED if (key in keys_of_list or ("", key[1]) in keys_of_list) else "" for key in keys
    ]


def _place(path: str, request: ReadRequest) -> GivenPart:
    report = ReadReport()
    return GivenPart(
        part=CheckedPart(name=path, role="test"),
        path=path,
        documents=lambda: read_file(path, request, report=report),
        report=report,
    )
