"""Scan table of the names of a dictionary.

A rule (`MatchingRule`) defines in which casings a name matches, and what never does. A dictionary
of a million names takes some hundred megabytes.
"""

from __future__ import annotations

import gzip
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from fascicle.core.wording import has_letters, plural
from fascicle.errors import InputError, UsageError
from fascicle.settings.inputs import Case
from fascicle.terms.keys.characters import is_symbol, plain_signs
from fascicle.terms.scanning.building import batches
from fascicle.terms.scanning.table import NameTable
from fascicle.text.characters import raised_digits
from fascicle.text.segment import Segmenter

_Casing = Literal["upper", "lower"]

_ENGLISH: Final = """
a about above after again against all also although always am among an and another any are as at be
because been
before being below between both but by can cannot could did do does doing done down during each
either else ever
every few for from further had has have having he hence her here hers herself him himself his how
however i if in
into is it its itself just least less may me might mine more most much must my myself neither never
no nor not now
of off often on once only or other others our ours ourselves out over own per rather same shall she
should since so
some such than that the their theirs them themselves then there therefore these they this those
though through thus
to together too toward towards under until up upon us very via was we were what when where whereas
whether which
while who whom whose why will with within without would yet you your yours yourself yourselves
"""
# Function words: none is a name on its own.
ENGLISH_STOP_WORDS: Final = frozenset(_ENGLISH.split())
# words; what is longer is no name, and each word of the longest name costs a step of every search
LONGEST: Final = 256
_TINY: Final = 2
_LETTERS: Final = "ʹʼˊˋ"  # apostrophes that a segmenter takes for letters
_APOSTROPHES: Final = MappingProxyType(dict.fromkeys(map(ord, _LETTERS), "'"))
NO_KIND: Final = -1  # in place of a set of types: no name matches in this casing
_TOGETHER: Final = 4096  # names that are cut into words in one call
_COUNTED: Final = ("entries", "empty", "signs", "too_long", "one_letter")  # classes of entries
# how the sentences about names end in one, and in several
_ONE: Final = {"s": "", "were": "was", "have": "has"}
_SEVERAL: Final = {"s": "s", "were": "were", "have": "have"}


class DictionaryEntry(NamedTuple):
    """One name of a dictionary.

    Attributes:
        name: as written.
        type: entity type; empty for a phrase that is known, but not of which type.
        concepts: identifiers of what it names.
    """

    name: str
    type: str = ""
    concepts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MatchingRule:
    """Rule by which the words of a text match a name of a dictionary.

    Attributes:
        name: of the rule.
        casings: in which each name matches besides the one that it is written in.
        stop_words: in lower case; a name of one word that is among them (in lower case, in
            capitals, or with a capital) matches nothing.
        untyped: whether phrases without a type take part: where one is chosen, nothing is known.
        as_written: types whose names have no form in lower case.
        folded: whether names match in any casing, in place of ``casings``; but, if ``symbols``, see
            there.
        typographic: whether typographic signs match plain ones, see `plain_signs`, and marks of
            citations in raised digits are blanks, unless a name has these digits.
        symbols: whether a symbol matches only as it is written, also one that is a stop word in
            capitals. It is a word of at most six capital letters, or of at most two characters:
            ``REST`` and ``Ca``, but not ``rest`` and ``ca``.
    """

    name: str
    casings: tuple[_Casing, ...] = ()
    stop_words: frozenset[str] = frozenset()
    untyped: bool = False
    as_written: frozenset[str] = frozenset()
    folded: bool = False
    typographic: bool = False
    symbols: bool = False

    def compared(self, word: str) -> str:
        """Returns a word in the form in which names and texts are compared, in its own case."""
        return plain_signs(word) if self.typographic else composed(word)

    def searched(self, word: str) -> str:
        """Returns the form of a word in the table of names: in lower case if the rule is folded."""
        form = word if word.isascii() else self.compared(word)
        return form.lower() if self.folded else form

    def stop_forms(self) -> set[str]:
        """Returns every form of the stop words that matches nothing."""
        cases = (
            (str.lower, str.capitalize) if self.symbols else (str.lower, str.upper, str.capitalize)
        )
        return {case(word) for word in self.stop_words for case in cases}

    def is_strict(self, words: list[str]) -> bool:
        """True if a name, given as its words, matches in no other casing than its own."""
        return (
            self.folded
            and self.symbols
            and len(words) == 1
            and (len(words[0]) <= _TINY or is_symbol(words[0]))
        )


_RAW: Final = MatchingRule(name="raw")
_THREE_CASINGS: Final = MatchingRule(
    name="three-casings",
    casings=("upper", "lower"),
    stop_words=ENGLISH_STOP_WORDS,
    untyped=True,
    as_written=frozenset({"PER", "ORG", "LOC"}),
)
RULES: Final = MappingProxyType({rule.name: rule for rule in (_RAW, _THREE_CASINGS)})
# The rules of a user's own list, by the setting of its capitals.
OWN: Final[Mapping[Case, MatchingRule]] = MappingProxyType(
    {
        "auto": MatchingRule(
            name="case-auto",
            stop_words=ENGLISH_STOP_WORDS,
            folded=True,
            typographic=True,
            symbols=True,
        ),
        "exact": MatchingRule(
            name="case-exact", stop_words=ENGLISH_STOP_WORDS, typographic=True, symbols=True
        ),
        "any": MatchingRule(name="case-any", folded=True, typographic=True),
    }
)


@dataclass(frozen=True, kw_only=True)
class _NameCounts:
    """Counts of the entries of a dictionary, by what was done with them.

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
        """Returns the counts as sentences, for a person."""
        sentences = [
            f"{plural(self.entries, 'name')}, {plural(self.phrases, 'phrase')} in all casings"
        ]
        counted = (
            (self.empty, "name{s} without a word {were} left out"),
            (self.signs, "name{s} without a letter or a digit {were} left out"),
            (self.too_long, f"name{{s}} of more than {LONGEST} words {{were}} left out"),
            (self.one_letter, "name{s} {have} one letter only"),
            (
                self.several_types,
                "phrase{s} {have} several types: a place where one stands is a mention of each",
            ),
        )
        sentences += [
            f"{count:,} {text.format_map(_ONE if count == 1 else _SEVERAL)}"
            for count, text in counted
            if count
        ]
        if self.stop_words:
            removed = plural(len(self.stop_words), "stop word was", "stop words were")
            sentences.append(f"{removed} removed: {', '.join(self.stop_words)}")
        return sentences


@dataclass(frozen=True, kw_only=True)
class _Names:
    """Dictionary that is ready for search.

    Attributes:
        rule: by which they match.
        table: of all phrases, as their words with a blank between any two; in lower case if the
            rule is folded.
        kinds: index into ``sets`` for each row of the table; -1 if it matches only as one of
            ``strict``.
        strict: names that match only as they are written -> index into ``sets``, of all names that
            match there.
        sets: distinct sets of types, each sorted; an empty one is that of phrases without a type.
        types: of all names, sorted.
        counts: what became of the entries.
        concepts: identifiers by type and row of the table, or by type and strict name.
        raised: keys of names with raised digits, each with these digits.
    """

    rule: MatchingRule
    table: NameTable
    kinds: array[int]
    strict: dict[str, int]
    sets: list[tuple[str, ...]]
    types: tuple[str, ...]
    counts: _NameCounts
    concepts: Mapping[tuple[str, int | str], Collection[str]]
    raised: Collection[tuple[str, str]]

    def is_raised(self, row: int, surface: str) -> bool:
        """True if a surface has the raised digits of a name of a row, and some."""
        digits = raised_digits(surface)
        return digits != "" and (self.table.key(row), digits) in self.raised

    def identifiers(self, kind: str, row: int, surface: str) -> Collection[str]:
        """Returns the identifiers of the names of a row that have this type and match a surface: of
        a strict name its own, where it has any.
        """
        if not self.concepts:
            return ()
        word = self.rule.compared(surface)
        return self.concepts.get((kind, word)) or self.concepts.get((kind, row), ())

    def kind(self, row: int, surface: str) -> int:
        """Returns the index into ``sets`` of the names of a row that match a surface; -1 if none
        does in its casing.
        """
        return (
            self.strict.get(self.rule.compared(surface), self.kinds[row])
            if self.strict
            else self.kinds[row]
        )


def gather_names(
    entries: Iterable[DictionaryEntry], *, rule: MatchingRule, segmenter: Segmenter
) -> _Names:
    """Reads a dictionary to its end.

    Names and texts are split into words by the same rules, so blanks within a name do not matter:
    ``alpha - methyldopa`` is ``alpha-methyldopa``. Casings are made word by word.

    Args:
        entries: of one dictionary, or of several; their order has no influence.
        rule: what is to match.
        segmenter: cuts names into words.

    Raises:
        InputError: no name is left.
        UsageError: a phrase without a type under a rule that takes none.
    """
    phrases = _Phrases(rule)
    for batch in batches(entries, _TOGETHER):
        for entry, words in zip(batch, _words_of(batch, rule, segmenter), strict=True):
            _check_type(entry, rule)
            phrases.add(entry, words)
    return phrases.finish()


class _Phrases:
    """Phrases of the entries of a dictionary, each with the number of its set of types."""

    def __init__(self, rule: MatchingRule) -> None:
        self._rule, self._sets = rule, _Sets()
        self._classes = Counter[str]()
        self._phrases: dict[str, int] = {}
        self._strict: dict[str, int] = {}
        self._raised: set[tuple[str, str]] = set()
        # by type and form of strict names, and of others; in order
        self._concepts: dict[bool, dict[tuple[str, str], dict[str, None]]] = {
            True: defaultdict(dict),
            False: defaultdict(dict),
        }

    def add(self, entry: DictionaryEntry, words: list[str]) -> None:
        """Adds an entry in all its casings, or counts why it is no name."""
        kind = _classify(entry, words)
        self._classes["entries"] += 1
        self._classes[kind] += 1
        if kind not in ("name", "one_letter"):
            return
        number = self._sets.number((entry.type,) if entry.type else ())
        strict = self._rule.is_strict(words)
        phrases = self._strict if strict else self._phrases
        for form in words if strict else _casings(words, entry.type, self._rule):
            known = phrases.setdefault(form, number)
            if known != number:
                phrases[form] = self._sets.union(known, number)
            if digits := raised_digits(entry.name):
                self._raised.add((form.lower() if strict else form, digits))
            if entry.concepts:
                self._concepts[strict][entry.type, form].update(dict.fromkeys(entry.concepts))

    def finish(self) -> _Names:
        """Returns the names, without stop words.

        Raises:
            InputError: there is no name.
        """
        if not self._phrases and not self._strict:
            entered = plural(self._classes["entries"], "entry", "entries")
            raise InputError(
                f"the dictionary has {entered} and no name among them; give one with names"
            )
        sets = self._sets.known
        several_types = sum(len(sets[number]) > 1 for number in self._phrases.values())
        stop_words = self._drop_stop_words()
        self._add_strict_forms()
        order = sorted(self._phrases)
        counts = _NameCounts(
            **{name: self._classes[name] for name in _COUNTED},
            phrases=len(order),
            several_types=several_types,
            stop_words=tuple(stop_words),
        )
        return _Names(
            rule=self._rule,
            table=NameTable.of(order),
            kinds=array("i", map(self._phrases.__getitem__, order)),
            strict=self._strict,
            sets=sets,
            types=tuple(sorted(set().union(*sets))),
            counts=counts,
            concepts=self._concepts_by_row(order, stop_words),
            raised=self._raised,
        )

    def _concepts_by_row(
        self, order: Sequence[str], stop_words: Collection[str]
    ) -> dict[tuple[str, int | str], Collection[str]]:
        """Returns identifiers as of `_Names.concepts`, without those of stop words."""
        rows = {form: row for row, form in enumerate(order)} if self._concepts[False] else {}
        return {
            (kind, form if strict else rows[form]): tuple(identifiers)
            for strict, concepts in self._concepts.items()
            for (kind, form), identifiers in concepts.items()
            if form not in stop_words
        }

    def _drop_stop_words(self) -> list[str]:
        stop_words = sorted(self._rule.stop_forms() & (self._phrases.keys() | self._strict.keys()))
        for form in stop_words:
            self._phrases.pop(form, None)
            self._strict.pop(form, None)
        return stop_words

    def _add_strict_forms(self) -> None:
        """Adds strict names in lower case, as the table has them, and unites them with equal
        phrases.
        """
        for form, number in self._strict.items():
            same = self._phrases.setdefault(form.lower(), NO_KIND)
            if same != NO_KIND:
                self._strict[form] = self._sets.union(same, number)


class _Sets:
    """Distinct sets of types by their numbers."""

    def __init__(self) -> None:
        self.known: list[tuple[str, ...]] = []
        self._numbers: dict[tuple[str, ...], int] = {}

    def number(self, types: tuple[str, ...]) -> int:
        """Returns the number of a set."""
        number = self._numbers.setdefault(types, len(self.known))
        if number == len(self.known):
            self.known.append(types)
        return number

    def union(self, first: int, other: int) -> int:
        """Returns the number of the union of two sets of types."""
        if first == other:
            return first
        return self.number(tuple(sorted({*self.known[first], *self.known[other]})))


def _check_type(entry: DictionaryEntry, rule: MatchingRule) -> None:
    if not entry.type and not rule.untyped:
        raise UsageError(
            f"the phrase {entry.name!r} has no type, and the rule {rule.name!r} takes none of "
            "these: leave the dictionary of untyped phrases out, or choose another rule"
        )


def _classify(entry: DictionaryEntry, words: list[str]) -> str:
    """Returns the class of an entry, as `_NameCounts` counts it; a ``"name"`` is not counted
    apart.
    """
    if not words:
        return "empty"
    if not has_letters(entry.name):
        return "signs"
    if len(words) > LONGEST:
        return "too_long"
    return "one_letter" if len(entry.name.strip()) == 1 else "name"


def _casings(words: list[str], kind: str, rule: MatchingRule) -> set[str]:
    """Returns a name, as words joined by blanks, in all casings in which it matches; of a folded
    rule in lower case.
    """
    if rule.folded:
        return {" ".join(map(str.lower, words))}
    name = " ".join(words)
    forms = {name}
    if "upper" in rule.casings:
        forms.add(composed(name.upper()))
    if "lower" in rule.casings and kind not in rule.as_written:
        forms.add(composed(name.lower()))
    return forms


def split_at_apostrophes(text: str) -> str:
    """Returns a text of the same length, in which apostrophes that are letters are plain ones."""
    return text.translate(_APOSTROPHES) if any(map(text.__contains__, _LETTERS)) else text


def composed(text: str) -> str:
    """Returns words with composed accents (NFC), in which names and texts are compared."""
    return unicodedata.normalize("NFC", text)


def _words_of(
    entries: list[DictionaryEntry], rule: MatchingRule, segmenter: Segmenter
) -> Iterator[list[str]]:
    """Yields the words of each name; all names are segmented in one call, separated by line
    breaks.
    """
    text = "\n".join(entry.name for entry in entries)
    spans = segmenter.words(split_at_apostrophes(text) if rule.typographic else text)
    at, end = 0, -1
    for entry in entries:
        end += 1 + len(entry.name)
        first = at
        while at < len(spans) and spans[at][0] < end:
            at += 1
        words = [text[a:b] for a, b in spans[first:at]]
        yield words if entry.name.isascii() else list(map(rule.compared, words))


def pack_dictionary(entries: Iterable[DictionaryEntry]) -> tuple[bytes, int]:
    """Returns a dictionary as it is stored in a model: one packed file, whose content depends on
    the names alone.

    Args:
        entries: names with their types, in any order, repeated or not.

    Returns:
        The table, ``type TAB name`` in each row, sorted, without a header; and how many rows it
        has.
    """
    rows = sorted({(entry.type, entry.name) for entry in entries})
    text = "".join(f"{kind}\t{name}\n" for kind, name in rows)
    return gzip.compress(text.encode("utf-8"), mtime=0), len(rows)


def rule_of(rule: MatchingRule | str) -> MatchingRule:
    """Returns a rule, or that of a name.

    Raises:
        UsageError: no rule has the name.
    """
    if isinstance(rule, MatchingRule):
        return rule
    if rule not in RULES:
        raise UsageError(
            f"the matching rule {rule!r} is not known; choose one of {', '.join(RULES)}"
        )
    return RULES[rule]
