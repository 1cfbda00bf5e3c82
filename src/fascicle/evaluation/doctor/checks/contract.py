"""Everything that checks look at, and what a check is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, cast

from fascicle.core.document import Mention
from fascicle.core.mention import Fragments
from fascicle.core.wording import plural
from fascicle.evaluation.doctor.copies import Copies
from fascicle.evaluation.doctor.parts import CheckedDocument, CheckedPart, GivenPart, Unread
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
        tokenizer: ``tokenizer.json``, or the folder that holds it; ``None`` checks nothing about
            pieces.
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """One case of a finding.

    Attributes:
        item: the document; ``None`` for a case that belongs to none.
        spans: where in its text, if anywhere.
        message: what there is to say beyond that; holds nothing of the text but what the check is
            about.
        where: what the case is counted under; the part of the document by default.
        path: of the file, where there is no document.
    """

    item: CheckedDocument | None = None
    spans: Fragments = ()
    message: str = ""
    where: str = ""
    path: str = ""

    @property
    def counted_under(self) -> str:
        """See ``where``."""
        return self.where or (self.item.part.name if self.item is not None else self.path)


HitsOrNotes = Iterator[Hit | str]
"""Cases of a finding, and sentences about all of them, such as their share."""


def hit_of(item: CheckedDocument, mention: Mention, message: str = "") -> Hit:
    """Returns a hit at a mention."""
    return Hit(
        item=item, spans=mention.spans, message=f"{mention.type}{': ' if message else ''}{message}"
    )


def quote_text(text: str, *, most: int = 60) -> str:
    """Returns a string of a text in quotes, on one line, cut where it is long."""
    line = " ".join(text.split())
    return f'"{line if len(line) <= most else line[: most - 3] + "..."}"'


def format_share(part: int, whole: int, noun: str) -> str:
    """Returns how many of some things, and their share with one decimal; of nothing it is
    undefined.
    """
    return (
        f"{part:,} of {plural(whole, noun)} "
        f"({f'{100 * part / whole:.1f} %' if whole else 'undefined'})"
    )


_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True, eq=False)
class Corpus:
    """Corpus as it was read.

    Attributes:
        items: documents of all parts that are checked.
        places: the places that were read for them.
        against: other corpora.
        unread: places that were not read to their end.
        copies: of texts.
        settings: see there.
    """

    items: Sequence[CheckedDocument]
    places: Sequence[GivenPart]
    against: Sequence[GivenPart]
    unread: Sequence[Unread]
    copies: Copies
    settings: CheckSettings
    _results: dict[Callable[[Corpus], Any], Any] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[CheckedPart, ...]:
        """Parts in the order in which they were given."""
        return tuple(dict.fromkeys(place.part for place in self.places))

    def by_part(self) -> Mapping[CheckedPart, list[CheckedDocument]]:
        """Returns the documents of each part."""
        items: dict[CheckedPart, list[CheckedDocument]] = {part: [] for part in self.parts}
        for item in self.items:
            items[item.part].append(item)
        return items

    def shared(self, compute: Callable[[Corpus], _T]) -> _T:
        """Returns the result of a function on this corpus, computed at its first use: several
        checks may share it.
        """
        if compute not in self._results:
            self._results[compute] = compute(self)
        return cast(_T, self._results[compute])


FindHits = Callable[[Corpus], Iterable[Hit | str]]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One kind of finding.

    Attributes:
        code: short stable name.
        severity: ``"error"`` where scores or training go wrong, ``"warning"`` where they may,
            ``"note"`` for what one should know.
        means: what a case of it is, one sentence.
        remedy: what to do, one sentence.
        find: streams the cases.
    """

    code: str
    severity: Severity
    means: str
    remedy: str
    find: FindHits


def each(find: Callable[[CheckedDocument], Iterable[Hit]]) -> FindHits:
    """Makes a check from a function that examines single documents."""
    return lambda corpus: (hit for item in corpus.items for hit in find(item))
