"""The names of a dictionary in the form that a matcher looks them up: tokens, casings, types.

Everything of a size with the dictionary is an array of integers, apart from the distinct tokens themselves, so a
dictionary of a million names takes some hundred megabytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from fascicle.core.arrays import Ints, Ints32, different
from fascicle.core.wording import counted, has_letters
from fascicle.errors import InputError, UsageError
from fascicle.knowledge.matching.dictionary import Entry
from fascicle.knowledge.matching.phrases import PhraseTable, build_table
from fascicle.knowledge.matching.rules import Casing, MatchingRule
from fascicle.knowledge.portions import batches
from fascicle.text.segment import Segmenter

LONGEST: Final = 256  # words; what is longer is no name, and each word of the longest name costs a step of every search
_TOGETHER = 4096  # names that are cut into words in one call
_UNTYPED = 0
_ONE: Final = {"s": "", "were": "was", "have": "has"}  # how the sentences about names end in one, and in several
_SEVERAL: Final = {"s": "s", "were": "were", "have": "have"}


@dataclass(frozen=True, kw_only=True)
class NameCounts:
    """What became of the entries of a dictionary.

    Attributes:
        entries: given.
        empty: without a word; left out.
        signs: without a letter or a digit; left out.
        too_long: of more than ``LONGEST`` words; left out.
        one_letter: names of one character; they match as others do.
        phrases: distinct sequences of words that can match, all casings.
        several_types: of these, those under more than one type.
        stop_words: of these, those that are stop words; removed.
    """

    entries: int
    empty: int
    signs: int
    too_long: int
    one_letter: int
    phrases: int
    several_types: int
    stop_words: tuple[str, ...]

    def lines(self) -> list[str]:
        """The counts as sentences, for a person."""
        said = [f"{counted(self.entries, 'name')}, {counted(self.phrases, 'phrase')} in all casings"]
        told = (
            (self.empty, "name{s} without a word {were} left out"),
            (self.signs, "name{s} without a letter or a digit {were} left out"),
            (self.too_long, f"name{{s}} of more than {LONGEST} words {{were}} left out"),
            (self.one_letter, "name{s} {have} one letter only"),
            (self.several_types, "phrase{s} {have} several types: a place where one stands is a mention of each"),
        )
        said += [f"{count:,} {text.format_map(_ONE if count == 1 else _SEVERAL)}" for count, text in told if count]
        if self.stop_words:
            removed = counted(len(self.stop_words), "stop word was", "stop words were")
            said.append(f"{removed} removed: {', '.join(self.stop_words)}")
        return said


@dataclass(frozen=True, kw_only=True)
class Names:
    """A dictionary ready to be searched for.

    Attributes:
        vocabulary: token -> id.
        table: of all phrases.
        kinds: of each node of the table, index into ``types``, -1 where no phrase ends, ``[nodes]``.
        types: distinct sets of types, each sorted; the first is empty: a phrase without a type.
        counts: what became of the entries.
    """

    vocabulary: dict[str, int]
    table: PhraseTable
    kinds: Ints32
    types: list[tuple[str, ...]]
    counts: NameCounts


@dataclass(kw_only=True)
class _Rows:
    """Names as token ids, gathered one after the other."""

    vocabulary: dict[str, int] = field(default_factory=dict)
    type_ids: dict[str, int] = field(default_factory=lambda: {"": _UNTYPED})
    tokens: array[int] = field(default_factory=lambda: array("i"))
    lengths: array[int] = field(default_factory=lambda: array("i"))
    types: array[int] = field(default_factory=lambda: array("i"))
    entries: int = 0
    empty: int = 0
    signs: int = 0
    too_long: int = 0
    one_letter: int = 0

    def add(self, entry: Entry, words: list[str]) -> None:
        """Takes one name, cut into words."""
        self.entries += 1
        if not words:
            self.empty += 1
        elif not has_letters(entry.name):
            self.signs += 1
        elif len(words) > LONGEST:
            self.too_long += 1
        else:
            self.one_letter += len(entry.name.strip()) == 1
            self.tokens.extend([self.vocabulary.setdefault(word, len(self.vocabulary)) for word in words])
            self.lengths.append(len(words))
            self.types.append(self.type_ids.setdefault(entry.type, len(self.type_ids)))

    def cased(self, casing: Casing) -> Ints32:
        """The tokens of all names in another casing; the vocabulary grows by their forms."""
        change = str.upper if casing == "upper" else str.lower
        forms = [self.vocabulary.setdefault(change(token), len(self.vocabulary)) for token in list(self.vocabulary)]
        return np.array(forms, dtype=np.int32)[np.frombuffer(self.tokens, dtype=np.int32)]


def gather_names(entries: Iterable[Entry], *, rule: MatchingRule, segmenter: Segmenter) -> Names:
    """Reads a dictionary to its end.

    Names and texts are cut into words by the same rules, so blanks within a name do not matter: ``alpha - methyldopa``
    is ``alpha-methyldopa``. Casings are made word by word.

    Args:
        entries: of one dictionary, or of several; their order has no influence.
        rule: what is to match.
        segmenter: cuts names into words.

    Raises:
        InputError: no name is left.
        UsageError: a phrase without a type under a rule that takes none.
    """
    rows = _Rows()
    for together in batches(entries, _TOGETHER):
        for entry, words in zip(together, _words_of(together, segmenter), strict=True):
            if not entry.type and not rule.untyped:
                raise UsageError(
                    f"the phrase {entry.name!r} has no type, and the rule {rule.name!r} takes none of these: leave the "
                    "dictionary of untyped phrases out, or choose another rule"
                )
            rows.add(entry, words)
    if not rows.lengths:
        entered = counted(rows.entries, "entry", "entries")
        raise InputError(f"the dictionary has {entered} and no name among them; give one with names")
    table, ends, kinds_of = _table(rows, rule)
    kinds, types, several = _kinds(ends, kinds_of, names=list(rows.type_ids), nodes=table.nodes)
    removed = _remove_stop_words(kinds, table, rows.vocabulary, rule)
    counts = NameCounts(
        entries=rows.entries,
        empty=rows.empty,
        signs=rows.signs,
        too_long=rows.too_long,
        one_letter=rows.one_letter,
        phrases=int((kinds >= 0).sum()),
        several_types=several,
        stop_words=removed,
    )
    return Names(vocabulary=rows.vocabulary, table=table, kinds=kinds, types=types, counts=counts)


def _table(rows: _Rows, rule: MatchingRule) -> tuple[PhraseTable, Ints, Ints]:
    """The table of all casings, and the node and type id of each phrase in it."""
    lengths, types = np.frombuffer(rows.lengths, dtype=np.int32), np.frombuffer(rows.types, dtype=np.int32)
    fixed = [rows.type_ids[name] for name in rule.as_written if name in rows.type_ids]
    parts = [(np.frombuffer(rows.tokens, dtype=np.int32), lengths, types)]
    for casing in rule.casings:
        tokens, taken = rows.cased(casing), np.full(len(types), True)
        if casing == "lower":
            taken = ~np.isin(types, fixed)
        parts.append((tokens[np.repeat(taken, lengths)], lengths[taken], types[taken]))
    together = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    table, ends = build_table(together[0], together[1], vocabulary=len(rows.vocabulary))
    return table, ends, together[2].astype(np.int64)


def _kinds(ends: Ints, kinds_of: Ints, *, names: list[str], nodes: int) -> tuple[Ints32, list[tuple[str, ...]], int]:
    """Which types the phrase of each node has: index into the sets of types, the sets, and how many have several."""
    node, kind = np.divmod(different(ends * len(names) + kinds_of), len(names))
    typed = (kind != _UNTYPED) | ~np.isin(node, node[kind != _UNTYPED])  # one known type is more than none
    node, kind = node[typed], kind[typed]
    kinds = np.full(nodes, -1, dtype=np.int32)
    kinds[node] = kind
    types: list[tuple[str, ...]] = [(name,) if name else () for name in names]
    found, first, count = np.unique(node, return_index=True, return_counts=True)
    sets: dict[tuple[str, ...], int] = {}
    for at in np.flatnonzero(count > 1).tolist():
        several = tuple(sorted(names[k] for k in kind[first[at] : first[at] + count[at]]))
        kinds[found[at]] = sets.setdefault(several, len(types) + len(sets))
    return kinds, [*types, *sets], int((count > 1).sum())


def _remove_stop_words(
    kinds: Ints32, table: PhraseTable, vocabulary: dict[str, int], rule: MatchingRule
) -> tuple[str, ...]:
    """Takes the phrases of one stop word out; longer ones that begin with it stay."""
    known = sorted(rule.stop_forms() & vocabulary.keys())
    nodes = table.first_nodes(np.array([vocabulary[form] for form in known], dtype=np.int64))
    removed = (nodes >= 0) & (kinds[nodes] >= 0)
    kinds[nodes[removed]] = -1
    return tuple(form for form, gone in zip(known, removed.tolist(), strict=True) if gone)


def _words_of(entries: list[Entry], segmenter: Segmenter) -> Iterator[list[str]]:
    """The words of each name; all names are cut in one call, a line break apart, which parts words as ends do."""
    text = "\n".join(entry.name for entry in entries)
    spans = segmenter.words(text)
    at, end = 0, -1
    for entry in entries:
        end += 1 + len(entry.name)
        first = at
        while at < len(spans) and spans[at][0] < end:
            at += 1
        yield [text[a:b] for a, b in spans[first:at]]
