"""Examining a corpus: reading, comparing, all checks, and a report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from fascicle.errors import InputError
from fascicle.evaluation.doctor.checks.contract import Check, Corpus, Detail, Hit
from fascicle.evaluation.doctor.checks.reading import Lines
from fascicle.evaluation.doctor.checks.table import CHECKS
from fascicle.evaluation.doctor.copies.copies import find_copies
from fascicle.evaluation.doctor.copies.leaks import exclusions
from fascicle.evaluation.doctor.parts import Given, Item, load
from fascicle.evaluation.doctor.report import SEVERITIES, CheckSettings, Example, Finding, PartFacts, Report
from fascicle.formats.exclusions import Exclusion

_TEXT = 80  # characters of an example that are shown


@dataclass(frozen=True, kw_only=True)
class Examination:
    """Result of an examination.

    Attributes:
        report: all findings.
        exclusions: what to leave out of training.
        corpus: what was looked at.
    """

    report: Report
    exclusions: list[Exclusion]
    corpus: Corpus


def examine(
    places: Sequence[Given],
    *,
    against: Sequence[Given] = (),
    settings: CheckSettings | None = None,
    skip: Collection[str] = (),
) -> Examination:
    """Checks a corpus.

    What is checked is held in memory without tokens as objects: the text, 8 bytes for each word and each shingle, some
    300 bytes for each mention and 1 kB for each document. Other corpora are streamed.

    Args:
        places: to read and check.
        against: other corpora, whose texts are compared with these.
        settings: defaults by default.
        skip: codes of checks that are not wanted.

    Raises:
        InputError: nothing at all could be read of what is to be checked.
        ModelError: the tokenizer cannot be read.
    """
    settings = settings or CheckSettings()
    items, unread = load(places, source=settings.source)
    if not items and unread:
        raise InputError(unread[0].message)
    copies = find_copies(items, against, unread, threshold=settings.near, min_words=settings.min_words)
    corpus = Corpus(
        items=items, places=tuple(places), against=tuple(against), unread=unread, copies=copies, settings=settings
    )
    lines = Lines(iter(places))
    wanted = [check for check in CHECKS.values() if check.code not in skip]
    found = [finding for check in wanted if (finding := _finding(check, corpus, lines)).count]
    excluded = exclusions(corpus)
    codes = {finding.code for finding in found}
    report = Report(
        parts=tuple(_facts(corpus)),
        findings=tuple(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))),
        without=tuple(check.code for check in wanted if check.code not in codes),
        skipped=tuple(code for code in CHECKS if code in skip),
        compared=copies.compared,
        excluded=len(excluded),
    )
    return Examination(report=report, exclusions=excluded, corpus=corpus)


def _finding(check: Check, corpus: Corpus, lines: Lines) -> Finding:
    counts: defaultdict[str, int] = defaultdict(int)
    kept: defaultdict[str, list[Hit]] = defaultdict(list)
    details: list[str] = []
    most = corpus.settings.examples
    for found in check.find(corpus):
        if isinstance(found, Detail):
            details.append(found.text)
            continue
        counts[found.counted_under] += 1
        if len(kept[found.counted_under]) < most:
            kept[found.counted_under].append(found)
    in_turn = (row[place] for place in range(most) for row in kept.values() if place < len(row))
    examples = (_example(hit, lines) for hit in islice(in_turn, most))
    return Finding(
        code=check.code,
        severity=check.severity,
        means=check.means,
        remedy=check.remedy,
        count=sum(counts.values()),
        by_part=dict(counts),
        details=tuple(details),
        examples=tuple(examples),
    )


def _example(hit: Hit, lines: Lines) -> Example:
    item = hit.item
    if item is None:
        return Example(
            part=hit.counted_under, file=hit.path, line=None, document="", spans=(), text="", message=hit.message
        )
    text = " ... ".join(item.text[start:end] for start, end in hit.spans or ((0, _TEXT + 1),))
    return Example(
        part=item.part.name,
        file=item.path,
        line=lines.line(item, hit.spans[0][0] if hit.spans else 0),
        document=item.id,
        spans=hit.spans,
        text=text if len(text) <= _TEXT else text[: _TEXT - 3] + "...",
        message=hit.message,
    )


def _facts(corpus: Corpus) -> Iterator[PartFacts]:
    for part, items in corpus.by_part().items():
        yield PartFacts(
            name=part.name,
            role=part.role,
            files=tuple(given.path for given in corpus.places if given.part == part),
            documents=len(items),
            sentences=_total(items, "sentences"),
            words=_total(items, "words"),
            mentions=_total(items, "mentions"),
        )


def _total(items: Sequence[Item], name: str) -> int:
    return sum(len(getattr(item, name)) for item in items)
