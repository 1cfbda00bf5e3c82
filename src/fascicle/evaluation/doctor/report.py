"""Findings for a person and for a program: Markdown, and a JSON object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal

from fascicle.core.mention import Fragments
from fascicle.core.wording import counted
from fascicle.settings.base import Natural, Positive

Severity = Literal["error", "warning", "note"]
NEVER: Final = "never"  # in the place of the severity that makes a check fail
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")


@dataclass(frozen=True, kw_only=True)
class CheckSettings:
    """Settings of the checks that a user may choose.

    Attributes:
        source: whose mentions are checked.
        examples: most examples of a finding.
        min_words: a text or sentence of fewer words is short: its copies are no leak.
        near: least Jaccard similarity of near duplicates, over sets of three words in a row.
        long_sentence: most words of a sentence that is not long.
        tokenizer: ``tokenizer.json``, or the folder that holds it; ``None`` checks nothing about pieces.
        width: most units of a mention for a span head; ``None`` for any number.
        level: whether a unit is a word or a piece.
        max_length: pieces that a network reads at a time, special tokens included.
    """

    source: str = "gold"
    examples: Natural = 5
    min_words: Natural = 8
    near: Fraction = Fraction(7, 10)
    long_sentence: Natural = 128
    tokenizer: Path | None = None
    width: Positive | None = None
    level: Literal["word", "piece"] = "word"
    max_length: Positive = 256


SCHEMA: Final = 1


@dataclass(frozen=True, kw_only=True)
class Example:
    """One case.

    Attributes:
        part: that it stands in.
        file: path.
        line: of a column file; ``None`` for others.
        document: its id; empty for a case of none.
        spans: offsets in code points; empty for a case that is the whole document.
        text: what stands there, cut where it is long.
        message: what there is to say.
    """

    part: str
    file: str
    line: int | None
    document: str
    spans: Fragments
    text: str
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
    examples: tuple[Example, ...]


@dataclass(frozen=True, kw_only=True)
class PartFacts:
    """Facts about a part that was read.

    Attributes:
        name: of the part.
        role: see ``parts.ROLES``.
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
class Report:
    """Everything that was found.

    Attributes:
        parts: what was read.
        findings: the gravest first; those without a case are left out.
        without: codes of the checks that found nothing.
        skipped: codes of those that were not asked for.
        compared: documents of other corpora.
        excluded: documents on the exclusion list.
    """

    parts: tuple[PartFacts, ...]
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
        return {"fascicle_corpus_check": SCHEMA, **asdict(self)}


def markdown(report: Report, *, names_all: bool = False) -> str:
    """Returns the report as Markdown that reads well on a terminal too.

    Args:
        report: to write.
        names_all: whether checks that found nothing are named; else they are counted.
    """
    return "\n".join(_lines(report, names_all=names_all)) + "\n"


def summary(report: Report) -> str:
    """Summarises the report in one sentence."""
    counts = [counted(report.count(name), name) for name in SEVERITIES]
    documents = sum(part.documents for part in report.parts)
    return f"{counted(documents, 'document')} checked; kinds of findings: {', '.join(counts)}"


def _lines(report: Report, *, names_all: bool) -> Iterator[str]:
    yield from ("# Corpus check", "", f"{summary(report)}.", "")
    yield from _table(
        ("part", "documents", "sentences", "words", "mentions", "files"),
        [
            (p.name, f"{p.documents:,}", f"{p.sentences:,}", f"{p.words:,}", f"{p.mentions:,}", ", ".join(p.files))
            for p in report.parts
        ],
    )
    if report.compared:
        yield from ("", f"Compared with {counted(report.compared, 'document')} of other corpora.")
    if report.excluded:
        yield from ("", f"Documents on the exclusion list: {report.excluded:,}.")
    if report.findings:
        yield ""
        yield from _table(
            ("severity", "finding", "cases", "where"),
            [
                (f.severity, f"`{f.code}`", f"{f.count:,}", ", ".join(f"{name} {n:,}" for name, n in f.by_part.items()))
                for f in report.findings
            ],
        )
    for finding in report.findings:
        yield from _section(finding)
    names = f": {', '.join(report.without)}" if names_all and report.without else ""
    yield from ("", f"{counted(len(report.without), 'check')} found nothing{names}.")
    if report.skipped:
        yield from ("", f"Skipped: {', '.join(report.skipped)}.")


def _section(finding: Finding) -> Iterator[str]:
    yield from ("", f"## {finding.code}: {finding.count:,} ({finding.severity})", "", finding.means)
    yield from finding.details
    yield f"*Remedy:* {finding.remedy}"
    if finding.examples:
        yield ""
    for example in finding.examples:
        yield f"- {_shown(example)}"


def _shown(example: Example) -> str:
    place = f"{example.file}:{example.line}" if example.line else example.file
    offsets = ";".join(f"{start}-{end}" for start, end in example.spans)
    parts = [place, *([f"document {example.document}"] if example.document else []), *([offsets] if offsets else [])]
    text = f" {_code(example.text)}" if example.text else ""
    message = f" ({_escaped(example.message)})" if example.message else ""
    return f"{_escaped(', '.join(part for part in parts if part)) or example.part}{text}{message}"


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    cells = [header, *(tuple(_escaped(cell, code=True).replace("|", "\\|") for cell in row) for row in rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    padded = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in cells]
    yield from (padded[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *padded[1:])


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
