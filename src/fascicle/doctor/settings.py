"""What a user may choose, and how grave findings are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final, Literal

from fascicle.settings.base import Natural, Positive

Severity = Literal["error", "warning", "note"]
NEVER: Final = "never"  # in the place of the severity that makes a check fail
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")


@dataclass(frozen=True, kw_only=True)
class CheckSettings:
    """What a user may choose.

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
