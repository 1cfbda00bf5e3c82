"""Examining a corpus: reading, comparing, all checks, and a report.

A new check is a function over documents, an entry of ``_FINDERS``, and a row of
``checks/findings.tsv``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, cast

from fascicle.core.mention import Fragments
from fascicle.core.results import TableRow, Tabular
from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.evaluation.doctor import leaks
from fascicle.evaluation.doctor.checks import reach, reading, related, relations, texts
from fascicle.evaluation.doctor.checks.contract import (
    SEVERITIES,
    Check,
    CheckSettings,
    Corpus,
    FindHits,
    Hit,
    Severity,
    each,
)
from fascicle.evaluation.doctor.copies import find_copies
from fascicle.evaluation.doctor.parts import GivenPart, load_parts
from fascicle.formats.exclusions import Exclusion

_TEXT = 80  # characters of an example that are shown


@dataclass(frozen=True, kw_only=True, repr=False)
class Examination(Tabular):
    """Result of an examination.

    Attributes:
        report: all findings.
        exclusions: what to leave out of training.
        corpus: what was looked at.
    """

    report: CorpusReport
    exclusions: list[Exclusion]
    corpus: Corpus

    def __repr__(self) -> str:
        """Returns the summary of the report."""
        return f"<Examination: {summary(self.report)}>"

    def table(self) -> list[TableRow]:
        """Returns the findings, the gravest first, with the number of cases of each."""
        names = ("code", "severity", "count", "means")
        return [
            {name: getattr(finding, name) for name in names} for finding in self.report.findings
        ]


def examine(
    places: Sequence[GivenPart],
    *,
    against: Sequence[GivenPart] = (),
    settings: CheckSettings | None = None,
    skip: Collection[str] = (),
) -> Examination:
    """Checks a corpus.

    What is checked is held in memory without tokens as objects: the text, 8 bytes for each word and
    each shingle, some 300 bytes for each mention and 1 kB for each document. Other corpora are
    streamed.

    Args:
        places: to read and check.
        against: other corpora, whose texts are compared with these.
        settings: defaults by default.
        skip: codes of checks that are not wanted.

    Raises:
        InputError: nothing at all could be read of what is to be checked.
        ModelError: the tokenizer cannot be read.
    """
    corpus = _read_corpus(places, against, settings or CheckSettings())
    lines = reading.Lines(iter(places))
    results = [
        _finding(check, corpus, lines) for code, check in checks().items() if code not in skip
    ]
    findings = [finding for finding in results if finding.count]
    excluded = leaks.exclusions(corpus)
    report = CorpusReport(
        parts=tuple(_facts(corpus)),
        findings=tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))),
        without=tuple(finding.code for finding in results if not finding.count),
        skipped=tuple(code for code in checks() if code in skip),
        compared=corpus.copies.compared,
        excluded=len(excluded),
    )
    return Examination(report=report, exclusions=excluded, corpus=corpus)


def _read_corpus(
    places: Sequence[GivenPart], against: Sequence[GivenPart], settings: CheckSettings
) -> Corpus:
    items, unread = load_parts(places, source=settings.source)
    if not items and unread:
        raise InputError(unread[0].message)
    copies = find_copies(
        items, against, unread, threshold=settings.near, min_words=settings.min_words
    )
    return Corpus(
        items=items,
        places=tuple(places),
        against=tuple(against),
        unread=unread,
        copies=copies,
        settings=settings,
    )


def _finding(check: Check, corpus: Corpus, lines: reading.Lines) -> Finding:
    counts: defaultdict[str, int] = defaultdict(int)
    examples_by_part: defaultdict[str, list[Hit]] = defaultdict(list)
    details: list[str] = []
    most = corpus.settings.examples
    for hit in check.find(corpus):
        if isinstance(hit, str):
            details.append(hit)
            continue
        counts[hit.counted_under] += 1
        if len(examples_by_part[hit.counted_under]) < most:
            examples_by_part[hit.counted_under].append(hit)
    in_turn = (
        row[place] for place in range(most) for row in examples_by_part.values() if place < len(row)
    )
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


def _example(hit: Hit, lines: reading.Lines) -> _Example:
    item = hit.item
    if item is None:
        return _Example(part=hit.counted_under, file=hit.path, message=hit.message)
    text = " ... ".join(item.text[start:end] for start, end in hit.spans or ((0, _TEXT + 1),))
    return _Example(
        part=item.part.name,
        file=item.path,
        line=lines.line(item, hit.spans[0][0] if hit.spans else 0),
        document=item.id,
        spans=hit.spans,
        text=text if len(text) <= _TEXT else text[: _TEXT - 3] + "...",
        message=hit.message,
    )


def _facts(corpus: Corpus) -> Iterator[_PartFacts]:
    for part, items in corpus.by_part().items():
        yield _PartFacts(
            name=part.name,
            role=part.role,
            files=tuple(place.path for place in corpus.places if place.part == part),
            documents=len(items),
            sentences=sum(len(item.sentences) for item in items),
            words=sum(len(item.words) for item in items),
            mentions=sum(len(item.mentions) for item in items),
        )


_SCHEMA: Final = 1


@dataclass(frozen=True, kw_only=True)
class _Example:
    """One case.

    Attributes:
        part: the part that it stands in.
        file: path.
        line: of a column file; ``None`` for others.
        document: its id; empty for a case of none.
        spans: offsets in code points; empty for a case that is the whole document.
        text: what stands there, cut where it is long.
        message: what there is to say.
    """

    part: str
    file: str
    line: int | None = None
    document: str = ""
    spans: Fragments = ()
    text: str = ""
    message: str


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Result of one check that found something.

    Attributes:
        code: of the check.
        severity: of the check.
        means: of the check.
        remedy: of the check.
        count: number of cases.
        by_part: part, or pair of parts (``"test in train"``) -> number of cases.
        details: sentences about all cases.
        examples: some of them.
    """

    code: str
    severity: Severity
    means: str
    remedy: str
    count: int
    by_part: dict[str, int]
    details: tuple[str, ...]
    examples: tuple[_Example, ...]


@dataclass(frozen=True, kw_only=True)
class _PartFacts:
    """Facts about a part that was read.

    Attributes:
        name: of the part.
        role: ``"test"``, ``"dev"``, ``"train"``, ``"corpus"`` or ``"against"``.
        files: its paths.
        documents: number of documents.
        sentences: number of sentences, of the source or of the segmenter.
        words: number of words, likewise.
        mentions: number of mentions of the source that is checked.
    """

    name: str
    role: str
    files: tuple[str, ...]
    documents: int
    sentences: int
    words: int
    mentions: int


@dataclass(frozen=True, kw_only=True)
class CorpusReport:
    """Everything that was found.

    Attributes:
        parts: what was read.
        findings: the gravest first; those without a case are left out.
        without: codes of the checks that found nothing.
        skipped: codes of those that were not asked for.
        compared: documents of other corpora.
        excluded: documents on the exclusion list.
    """

    parts: tuple[_PartFacts, ...]
    findings: tuple[Finding, ...]
    without: tuple[str, ...]
    skipped: tuple[str, ...]
    compared: int
    excluded: int

    def count(self, severity: Severity) -> int:
        """Counts the checks of a severity that found something."""
        return sum(finding.severity == severity for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Returns the report as values that JSON can hold."""
        return {"fascicle_corpus_check": _SCHEMA, **asdict(self)}


def markdown(report: CorpusReport, *, names_all: bool = False) -> str:
    """Returns the report as Markdown that reads well on a terminal too.

    Args:
        report: to write.
        names_all: whether checks that found nothing are named; else they are counted.
    """
    return "\n".join(_lines(report, names_all=names_all)) + "\n"


def summary(report: CorpusReport) -> str:
    """Summarises the report in one sentence."""
    counts = [plural(report.count(name), name) for name in SEVERITIES]
    documents = sum(part.documents for part in report.parts)
    return f"{plural(documents, 'document')} checked; kinds of findings: {', '.join(counts)}"


def _lines(report: CorpusReport, *, names_all: bool) -> Iterator[str]:
    yield from ("# Corpus check", "", f"{summary(report)}.", "")
    yield from _table(
        ("part", "documents", "sentences", "words", "mentions", "files"),
        [
            (
                p.name,
                f"{p.documents:,}",
                f"{p.sentences:,}",
                f"{p.words:,}",
                f"{p.mentions:,}",
                ", ".join(p.files),
            )
            for p in report.parts
        ],
    )
    if report.compared:
        yield from ("", f"Compared with {plural(report.compared, 'document')} of other corpora.")
    if report.excluded:
        yield from ("", f"Documents on the exclusion list: {report.excluded:,}.")
    if report.findings:
        yield ""
        yield from _table(
            ("severity", "finding", "cases", "where"),
            [
                (
                    f.severity,
                    f"`{f.code}`",
                    f"{f.count:,}",
                    ", ".join(f"{name} {n:,}" for name, n in f.by_part.items()),
                )
                for f in report.findings
            ],
        )
    for finding in report.findings:
        yield from _section(finding)
    names = f": {', '.join(report.without)}" if names_all and report.without else ""
    yield from ("", f"{plural(len(report.without), 'check')} found nothing{names}.")
    if report.skipped:
        yield from ("", f"Skipped: {', '.join(report.skipped)}.")


def _section(finding: Finding) -> Iterator[str]:
    yield from ("", f"## {finding.code}: {finding.count:,} ({finding.severity})", "", finding.means)
    yield from (*finding.details, f"*Remedy:* {finding.remedy}")
    if finding.examples:
        yield from ("", *(f"- {_describe(example)}" for example in finding.examples))


def _describe(example: _Example) -> str:
    place = f"{example.file}:{example.line}" if example.line else example.file
    offsets = ";".join(f"{start}-{end}" for start, end in example.spans)
    parts = [
        place,
        *([f"document {example.document}"] if example.document else []),
        *([offsets] if offsets else []),
    ]
    text = f" {_code(example.text)}" if example.text else ""
    message = f" ({_escaped(example.message)})" if example.message else ""
    return f"{_escaped(', '.join(part for part in parts if part)) or example.part}{text}{message}"


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    cells = [header, *(tuple(map(_escape_cell, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    padded = [f"| {' | '.join(map(str.ljust, row, widths))} |" for row in cells]
    yield from (padded[0], f"|{'|'.join('-' * (width + 2) for width in widths)}|", *padded[1:])


def _escape_cell(cell: str) -> str:
    return _escaped(cell, code=True).replace("|", "\\|")


def _escaped(text: str, *, code: bool = False) -> str:
    """Puts text on one line, and escapes characters that Markdown or a terminal would interpret."""
    line = "".join(character if character.isprintable() else " " for character in text)
    for sign in ("<", "*", "_", *(() if code else ("`",))):
        line = line.replace(sign, f"\\{sign}")
    return line


def _code(text: str) -> str:
    """Formats text as code that Markdown shows unchanged; unprintable characters are escaped."""
    line = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    return f"`` {line} ``" if "`" in line else f"`{line}`"


_FINDERS: Final[Mapping[str, FindHits]] = MappingProxyType(
    {
        **{code: each(reading.make_event_check(code)) for code in reading.CODES},
        "unread-file": reading.unread,
        "tag-without-begin": reading.tag_without_begin,
        "other-source": each(reading.other_sources),
        "edge-space": each(relations.edge_space),
        "inside-word": each(relations.inside_word),
        "across-sentences": each(relations.across_sentences),
        "mention-at-break": relations.at_break,
        "crossing-mentions": each(relations.crossing),
        "touching-mentions": each(relations.touching),
        "same-span": each(relations.same_span),
        "nested-mention": each(relations.nested),
        "nested-in-own-type": each(relations.nested_in_own_type),
        "discontinuous": each(relations.discontinuous),
        "relation-without-mention": each(related.without_mention),
        "relation-to-itself": each(related.to_itself),
        "repeated-relation": each(related.repeated),
        "unreachable-mention": reach.unreachable,
        "ambiguous-string": texts.ambiguous_string,
        "unannotated-repeat": texts.unannotated_repeat,
        "likely-missed-mention": texts.likely_missed,
        "seen-mention": texts.seen_mention,
        "type-in-some-parts": relations.type_in_some_parts,
        "kind-not-in-train": relations.kind_not_in_train,
        **{
            f"{kind}-{where}": leaks.copies(kind, where)
            for kind in leaks.KINDS
            for where in leaks.RELATIONS
        },
        "shared-id": leaks.shared_id,
        "short-duplicate": leaks.short_copies,
        "copies-not-sought": leaks.not_compared,
        "empty-document": each(texts.empty_document),
        "long-sentence": texts.long_sentence,
        "long-document": each(texts.long_document),
        "short-sentence": each(texts.short_sentence),
        "open-sentence": texts.open_sentence,
        "replacement-character": each(texts.make_character_check(texts.REPLACED)),
        "mojibake": each(texts.mojibake),
        "control-character": each(texts.make_character_check(texts.CONTROL)),
        "invisible-character": each(texts.make_character_check(texts.INVISIBLE)),
        "mixed-normal-forms": texts.mixed_forms,
    }
)


@cache
def checks() -> Mapping[str, Check]:
    """Returns all checks by their codes, in the order of reports; they are read at the first
    call.
    """
    table = (
        resources.files(__package__).joinpath("checks", "findings.tsv").read_text(encoding="utf-8")
    )
    by_code = {}
    for line in table.splitlines()[1:]:
        code, severity, means, remedy = line.split("\t")
        by_code[code] = Check(
            code=code,
            severity=cast(Severity, severity),
            means=means.format(long=texts.LONG_DOCUMENT, short=texts.SHORT_SENTENCE),
            remedy=remedy,
            find=_FINDERS[code],
        )
    return MappingProxyType(by_code)
