"""Four keys of a name, from its exact spelling to the bag of its tokens, and the fast reader of
tokens.

The reader gives tokens of texts as arrays, the same tokens as of `tokens.tokens`. Runs of
characters are hashed all at once, as sums of powers. Python code handles only new runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import numpy as np

from fascicle.core.arrays import Bools, Ints, Ints32, int_array
from fascicle.errors import UsageError
from fascicle.terms.keys.characters import BLANK, DIGIT, LETTER, SIGN, fold
from fascicle.terms.keys.forms import (
    BARRIER,
    BREAK,
    GROUP,
    Folder,
    Forms,
    Hashes,
    Runs,
    code_points,
)
from fascicle.terms.keys.tokens import tokenise

NORMALISER: Final = "keys@1"  # a change of any key gives it a new name
Level = Literal[0, 1, 2, 3]
# signs that only part words, once their order does not count
_UNORDERED: Final = frozenset(',;:()[]{}"/.')
# characters that are read together: their arrays fit into the cache of a processor
_CHUNK: Final = 1 << 17
REMEMBERED: Final = 1 << 16  # runs
_BASE: Final = 0x9E3779B97F4A7C55
_BLANK_POINT: Final = ord(" ")
_REMEMBERED: Final = 1 << 18  # distinct words: vocabularies have more than texts


def key(surface: str, level: Level) -> str:
    """Returns the key of a name; names with equal keys match.

    Args:
        surface: the name.
        level: 0: as it is written. 1: without case, marks on letters, kinds of dashes and blanks;
            Greek letters by their names. 2: the canonical tokens (`tokens.tokens`), a blank apart.
            3: these sorted, without signs that only part words.

    Returns:
        The key; one of level 1 to 3 is empty for a surface without anything visible, and for
        hyphens alone.

    Raises:
        UsageError: another level.
    """
    if level == 0:
        return surface
    if level == 1:
        # most names; `fold` gives the same in twice the time
        plain = surface.isascii() and surface.isprintable()
        return " ".join(
            (surface.lower().replace("`", "'") if plain else fold(surface).text).split()
        )
    if level not in (2, 3):
        raise UsageError(f"keys have the levels 0 to 3; given was {level!r}")
    canonical = _canonical(surface)
    return (
        canonical
        if level == 2
        else unordered([canonical], lambda keys: [_canonical(text) for text in keys])[0]
    )


def unordered(keys: Sequence[str], canonical: Callable[[Sequence[str]], list[str]]) -> list[str]:
    """Returns the keys of level 3 of names.

    Args:
        keys: of level 2.
        canonical: makes keys of level 2 of strings.
    """
    ordered = [_sort_tokens(text) for text in keys]
    again = canonical(ordered)
    changed = [
        at for at, (text, other) in enumerate(zip(ordered, again, strict=True)) if text != other
    ]
    if changed:  # a numeral came to stand behind ``type`` or its like
        for at, text in zip(
            changed, unordered([again[at] for at in changed], canonical), strict=True
        ):
            ordered[at] = text
    return ordered


@lru_cache(maxsize=1 << 12)
def _canonical(surface: str) -> str:
    return " ".join([token.text for token in tokenise(surface)])


def _sort_tokens(canonical: str) -> str:
    texts = canonical.split(" ")
    return " ".join(sorted([text for text in texts if text not in _UNORDERED] or texts))


class TokenArrays(NamedTuple):
    """Tokens of texts, concatenated, with a token of `forms.BREAK` between each two texts.

    Attributes:
        starts: first character of each, where texts are joined by one character, ``[n]``.
        ends: one past the last, with the marks on it, ``[n]``.
        forms: row of its form, ``[n]``.
        opens: whether no letter or digit is right before it, ``[n]``.
        closes: whether none is right after it, ``[n]``.
        known: the forms that these are rows of.
    """

    starts: Ints
    ends: Ints
    forms: Ints32
    opens: Bools
    closes: Bools
    known: Forms


class _Parts(NamedTuple):
    starts: Ints
    ends: Ints
    parts: Ints32
    opens: Bools
    closes: Bools


class TokenReader:
    """Reads tokens, and caches known words up to a bound; so it is for one thread."""

    def __init__(self, *, remembered: int = REMEMBERED, chunk: int = _CHUNK) -> None:
        """Starts without words.

        Args:
            remembered: how many distinct runs are kept from one call to the next.
            chunk: characters that are read together.
        """
        self._remembered = remembered
        self._chunk = chunk
        self._folder = Folder()
        self._runs = Runs()
        self._powers = _powers(_BASE, chunk)
        self._inverses = _powers(pow(_BASE, -1, 1 << 64), chunk)

    def read(self, texts: Sequence[str]) -> TokenArrays:
        """Returns the tokens of texts."""
        if len(self._runs) > self._remembered:
            self._runs = Runs()
        points = code_points(texts)
        chunks = [
            self._read_chunk(points[start:end], start) for start, end in _cuts(points, self._chunk)
        ]
        if not chunks:
            chunks = [self._read_chunk(points, 0)]
        parts = (
            chunks[0]
            if len(chunks) == 1
            else _Parts._make(map(np.concatenate, zip(*chunks, strict=True)))
        )
        return self._in_context(self._without_possessives(parts))

    def _read_chunk(self, points: Ints32, offset: int) -> _Parts:
        """Returns the parts of all runs of a chunk, whatever their context is."""
        folded = self._folder.fold(points)
        parts = self._split_runs(folded.codes)
        starts, ends = parts.starts, parts.ends
        if folded.starts is not None and folded.ends is not None:
            starts, ends = folded.starts[starts], folded.ends[ends - 1]
        return parts._replace(starts=starts + offset, ends=ends + offset)

    def _split_runs(self, codes: Ints32) -> _Parts:
        starts, ends, signs = _runs(codes)
        rows = self._rows(codes, starts, ends)
        opens, closes = _word_borders(starts, ends, signs)
        counts = self._runs.count.values[rows]
        parts = self._runs.first.values[rows]
        if (counts == 1).all():
            return _Parts(starts, ends, parts, opens, closes)
        run = np.repeat(np.arange(len(rows)), counts)
        within = np.arange(len(run)) - np.repeat(np.cumsum(counts) - counts, counts)
        parts = parts[run] + within.astype(np.int32)
        return _Parts(
            starts[run] + self._runs.start.values[parts],
            starts[run] + self._runs.end.values[parts],
            parts,
            opens[run] & (within == 0),
            closes[run] & (within == counts[run] - 1),
        )

    def _rows(self, codes: Ints32, starts: Ints, ends: Ints) -> Ints32:
        """Returns the row of each run."""
        hashes = self._hashes(codes, starts, ends)
        rows = self._runs.find(hashes)
        missed = np.flatnonzero(rows < 0)
        if len(missed):
            new, first = np.unique(hashes[missed], return_index=True)
            places = missed[first]
            borders = zip(starts[places].tolist(), ends[places].tolist(), strict=True)
            self._runs.add(new, [codes[start:end] for start, end in borders])
            rows[missed] = self._runs.find(hashes[missed])
        return rows

    def _hashes(self, codes: Ints32, starts: Ints, ends: Ints) -> Hashes:
        """Returns the hash of each run: a polynomial of its codes, whatever its place is."""
        if len(codes) > len(self._powers):
            self._powers = _powers(_BASE, 2 * len(codes))
            self._inverses = _powers(pow(_BASE, -1, 1 << 64), 2 * len(codes))
        sums = np.zeros(len(codes) + 1, dtype=np.uint64)
        np.cumsum(codes.astype(np.uint64) * self._powers[: len(codes)], out=sums[1:])
        return (sums[ends] - sums[starts]) * self._inverses[starts]

    def _without_possessives(self, parts: _Parts) -> _Parts:
        runs = self._runs
        forms = runs.form.values[parts.parts]
        owners = np.flatnonzero(forms == runs.forms.owner)
        if not len(owners):
            return parts
        stays = np.ones(len(forms), dtype=bool)
        behind = 0
        for at in owners.tolist():
            before = parts.parts[at - 1]
            if at < behind or at == 0 or runs.group.values[before] != LETTER:
                continue
            end = behind = self._end_of_signs(forms, at)
            if runs.hisses.values[before] or (
                at + 1 < len(forms) and forms[at + 1] == runs.forms.s
            ):
                stays[at:end] = False
        return _Parts._make(column[stays] for column in parts)

    def _end_of_signs(self, forms: Ints32, at: int) -> int:
        while at < len(forms) and forms[at] == self._runs.forms.owner:
            at += 2 if at + 1 < len(forms) and forms[at + 1] == self._runs.forms.s else 1
        return at

    def _in_context(self, parts: _Parts) -> TokenArrays:
        """Returns the form of each part, given its neighbours."""
        runs = self._runs
        forms = runs.form.values[parts.parts]
        before_number = np.flatnonzero(runs.group.values[parts.parts[1:]] == DIGIT)
        forms[before_number] = runs.symbol.values[parts.parts[before_number]]
        for letter, number in runs.forms.numerals.items():
            at = np.flatnonzero(forms == letter)
            at = at[at > 0]
            forms[at[np.isin(forms[at - 1], runs.forms.numbered)]] = number
        return TokenArrays(parts.starts, parts.ends, forms, parts.opens, parts.closes, runs.forms)


def _runs(codes: Ints32) -> tuple[Ints, Ints, Bools]:
    """Returns where runs start and end, and which are signs."""
    if not len(codes):
        none = int_array([])
        return none, none, np.zeros(0, dtype=bool)
    groups = (codes & GROUP).astype(np.uint8)
    new = (groups[1:] != groups[:-1]) | (groups[1:] == SIGN)
    borders = np.concatenate(([0], np.flatnonzero(new) + 1, [len(codes)]))
    kinds = groups[borders[:-1]]
    visible = kinds != BLANK
    return borders[:-1][visible], borders[1:][visible], kinds[visible] == SIGN


def _word_borders(starts: Ints, ends: Ints, signs: Bools) -> tuple[Bools, Bools]:
    """Returns whether no letter or digit is right before, and right after, each run."""
    apart = np.ones(len(starts) + 1, dtype=bool)
    apart[1:-1] = (starts[1:] != ends[:-1]) | signs[1:] | signs[:-1]
    return apart[:-1], apart[1:]


def _cuts(points: Ints32, size: int) -> Iterator[tuple[int, int]]:
    """Yields chunks that end before a blank or a barrier; a longer one where there is none."""
    start = 0
    while start < len(points):
        end = min(start + size, len(points))
        while end < len(points):
            last = points[max(start + 1, end - 1024) : end]
            blanks = np.flatnonzero((last == _BLANK_POINT) | (last == BARRIER))
            if len(blanks):
                end = max(start + 1, end - 1024) + int(blanks[-1])
                break
            end = min(end + 1024, len(points))
        yield start, end
        start = end


def _powers(base: int, count: int) -> Hashes:
    powers = np.full(max(count, 1), base & ((1 << 64) - 1), dtype=np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)


class KeyReader:
    """Computes keys of level 2; for one thread."""

    def __init__(self) -> None:
        """Starts without words."""
        self._reader = TokenReader(remembered=_REMEMBERED)

    def __call__(self, names: Sequence[str]) -> list[str]:
        """Returns the key of each name, in their order; empty for one without anything visible."""
        if not names:
            return []
        tokens = self._reader.read(names)
        texts = tokens.known.texts
        text = " ".join([texts[form] for form in tokens.forms.tolist()])
        return [key.strip(" ") for key in text.split(BREAK)]
