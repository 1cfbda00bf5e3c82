"""Abbreviations of a document: which mentions are forms of a defined pair, and the step that uses them.

A pair is a long form with its short forms, which mean one thing. The step adds, retypes or drops mentions by them. Its
rules are selected on development documents; no rule at all is one of the choices.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Final, NamedTuple, get_args

import msgspec

from fascicle.core.document import Abbreviation, Document, Event, Patch, canonical
from fascicle.core.mention import Mention, Span
from fascicle.settings.decision import AbbreviationDecision, AbbreviationRules, Spread
from fascicle.terms.abbreviations.finder import abbreviations_of
from fascicle.terms.keys.key import key
from fascicle.text.characters import occurrences

_MOST: Final = 20  # short forms of a long one; a text that defines more cannot make each mention slow
_CLOSING: Final = ")]}"
_TELLING: Final = 5  # letters and digits of a short form that is hardly short for anything else
_TELLING_WITH_DIGIT: Final = 4


class Pair(NamedTuple):
    """Long form with its short forms.

    Attributes:
        long: the words of the long form, as in its first definition.
        shorts: short forms, in the order of their definitions.
    """

    long: str
    shorts: tuple[str, ...]


class _Definition(NamedTuple):
    begins: int
    short: str
    long: str


class Pairs:
    """Abbreviation pairs that a document states, or else those that its text defines.

    Of several long forms of a short one, that of the last definition before a place counts there. A long form that is
    itself a short one is replaced by the long form of that. A mention is a form only as a whole: one that has a form
    among other words keeps its own words.
    """

    def __init__(self, document: Document, *, at: Collection[int] | None = None) -> None:
        """Reads the definitions; see `find_abbreviations`."""
        self._text = document.text
        self._of_short: dict[str, list[_Definition]] = defaultdict(list)
        longs: dict[str, str] = {}
        self._places: dict[Span, tuple[str, int]] = {}  # of the forms in definitions: key of the pair, and its start
        told = [(one, places) for places in abbreviations_of(document, at=at) if (one := self._read(places))]
        told.sort(key=lambda pair: (pair[0].begins, pair[1]))
        for one, _ in told:
            self._of_short[_singular(one.short)].append(one)
        shorts: dict[str, dict[str, None]] = defaultdict(dict)
        for one, (short, long) in told:
            name = self._root(one)
            simple = key(name, 1)
            shorts[simple][one.short] = None
            longs.setdefault(simple, name)
            for place in (short, long, self._whole(short, long)):
                self._places.setdefault(place, (simple, long[0]))
        self._pairs = {simple: Pair(long, tuple(shorts[simple])[:_MOST]) for simple, long in longs.items()}
        self._lengths = frozenset(map(len, self._pairs))  # of keys; that of an ASCII name is as long as the name

    def __len__(self) -> int:
        """Returns the number of pairs."""
        return len(self._pairs)

    def of(self, surface: str, *spans: Span) -> tuple[Pair | None, int]:
        """Returns the pair of which a mention is a form, if any, and the place where the context of the mention is.

        The forms of one definition are at one place.

        Args:
            surface: the words of the mention, with a blank between two of them.
            spans: of the mention, in the order of the text.
        """
        start = spans[0][0]
        if len(spans) == 1 and (found := self._places.get(spans[0])):
            return self._pairs[found[0]], found[1]
        if several := self._of_short.get(_singular(surface) if surface[-1:] == "s" else surface):
            return self._pairs[key(self._root(_last(several, start)), 1)], start
        if surface.isascii() and len(surface) not in self._lengths:
            return None, start
        return self._pairs.get(key(surface, 1)), start

    def _read(self, places: Abbreviation) -> _Definition | None:
        short, long = (" ".join(self._text[start:end].split()) for start, end in places)
        return _Definition(min(start for start, _ in places), short, long) if short and long else None

    def _root(self, definition: _Definition) -> str:
        """Returns the long form that is no short form itself; each step leads to a longer one, so the loop ends."""
        found = definition.long
        while several := self._of_short.get(_singular(found)):
            above = _last(several, definition.begins).long
            if (len(above), above) <= (len(found), found):
                break
            found = above
        return found

    def _whole(self, short: Span, long: Span) -> Span:
        """Returns both forms of a definition with the bracket of the second one."""
        end = max(short[1], long[1])
        return min(short[0], long[0]), end + (self._text[end : end + 1] in _CLOSING)


def is_distinctive(short: str) -> bool:
    """True if a short form is rarely ambiguous: it has five letters or digits, or four with a digit."""
    solid = [one for one in short if one.isalnum()]
    return len(solid) >= (_TELLING_WITH_DIGIT if any(map(str.isdigit, solid)) else _TELLING)


def _singular(short: str) -> str:
    """Returns a short form without the ``s`` of a plural, as ``AR`` of ``ARs``."""
    return short[:-1] if len(short) > 2 and short[-1] == "s" and not short[-2].islower() else short


def _last(several: Sequence[_Definition], place: int) -> _Definition:
    """Returns the last definition that begins at or before a place, or else the first one."""
    return several[max(0, bisect_right(several, place, key=lambda one: one.begins) - 1)]


STEP: Final = "abbreviations"
Types = frozenset[str]


def resolved(document: Document, patch: Patch, rules: AbbreviationRules) -> Patch:
    """Applies the rules for abbreviations to the result of a predictor; an event records each mention that changes.

    Of several definitions of a short form, the last one before a place decides there. Nothing is added where a mention
    overlaps. An added or retyped mention has the score of the mention that decided: of a long form the
    best one that it has anywhere, for it may be in a title or a heading where it is first defined. Discontinuous
    mentions stay as they are.

    Args:
        document: its ``abbreviations``, or else those that its text defines.
        patch: the answer for this document.
        rules: which changes are made.

    Returns:
        The same patch if nothing changes.
    """
    if not patch.add or not rules.change:
        return patch
    layer = _Layer(document.text, patch.add)
    if rules.spread != "no" or rules.drop:
        _resolve(layer, abbreviations_of(document), rules)
    if rules.one_type:
        _unify(layer)
    if not layer.events:
        return patch
    return msgspec.structs.replace(patch, add=layer.mentions(), events=(*patch.events, *layer.events))


class _Layer:
    """Mentions of one source, by their places."""

    def __init__(self, text: str, mentions: Sequence[Mention]) -> None:
        self.text = text
        self.source = mentions[0].source
        self.at: dict[Span, list[Mention]] = defaultdict(list)
        self.ending: dict[int, list[Span]] = defaultdict(list)
        self.events: list[Event] = []
        self._rest = [mention for mention in mentions if len(mention.spans) > 1]
        self._covered = bytearray(len(text) + 1)
        for mention in mentions:
            for start, end in mention.spans:
                self._covered[start:end] = b"\1" * (end - start)
            if len(mention.spans) == 1:
                self.at[mention.spans[0]].append(mention)
        for span in sorted(self.at):
            self.ending[span[1]].append(span)

    def overlaps(self, span: Span) -> bool:
        return self._covered.find(1, *span) >= 0

    @cached_property
    def _best(self) -> Mapping[tuple[str, str], float]:
        """Best score of each name of each type, whether it begins a sentence or not."""
        found: dict[tuple[str, str], float] = {}
        for span, mentions in self.at.items():
            for one in mentions:
                name = (one.type, self._name(span))
                found[name] = max(found.get(name, 0.0), one.score or 0.0)
        return found

    def _name(self, span: Span) -> str:
        name = self.text[slice(*span)]
        return name[:1].lower() + name[1:]

    def at_best(self, span: Span) -> tuple[Mention, ...]:
        """Returns the mentions at a place with the best scores that their name has."""
        return tuple(
            one if one.score is None else msgspec.structs.replace(one, score=self._best[one.type, self._name(span)])
            for one in self.at.get(span, ())
        )

    def types(self, span: Span) -> Types:
        return frozenset(mention.type for mention in self.at.get(span, ()))

    def set_types(self, span: Span, like: Sequence[Mention], why: str) -> None:
        """Gives the mentions at a place new types; adds mentions where nothing overlaps."""
        if span not in self.at and self.overlaps(span):
            return
        kept = "retyped" if span in self.at else "added"
        self.at[span] = [Mention((span,), one.type, score=one.score, source=self.source) for one in like]
        self._covered[span[0] : span[1]] = b"\1" * (span[1] - span[0])
        self._tell(kept, span, f"{kept} as {' and '.join(sorted(one.type for one in like))}, {why}")

    def drop(self, span: Span, why: str) -> None:
        kinds = " and ".join(sorted(self.types(span)))
        del self.at[span]  # the place stays covered: what was dropped is not added again
        self._tell("dropped", span, f"dropped: {kinds}, {why}")

    def _tell(self, what: str, span: Span, message: str) -> None:
        self.events.append(Event(step=STEP, kind="note", code=f"abbreviation-{what}", message=message, span=span))

    def mentions(self) -> tuple[Mention, ...]:
        return canonical([*self._rest, *(mention for group in self.at.values() for mention in group)])


class _Long:
    """Long form of a definition, with its mentions before any change."""

    def __init__(self, layer: _Layer, short: Span, long: Span, rules: AbbreviationRules) -> None:
        self.begins = min(short[0], long[0])
        self.span = long
        self.is_mentioned = layer.overlaps(long)
        self.said: Sequence[Mention] = ()
        if rules.spread == "exact":
            self.said = layer.at_best(long)
        elif rules.spread == "end":
            over = [span for span in layer.ending.get(long[1], ()) if span in layer.at]
            self.said = layer.at_best(over[0]) if over else ()


def _resolve(layer: _Layer, pairs: Iterable[tuple[Span, Span]], rules: AbbreviationRules) -> None:
    """Spreads the types of long forms to their short forms, and drops short forms without one."""
    definitions: dict[str, list[_Long]] = defaultdict(list)
    for short, long in sorted(pairs):
        definitions[layer.text[slice(*short)]].append(_Long(layer, short, long, rules))
    places = occurrences(layer.text, definitions)
    for form in sorted(places, key=lambda one: (-len(one), one)):
        known = sorted(definitions[form], key=lambda one: one.begins)
        begins = [one.begins for one in known]
        for span in places[form]:
            one = known[max(0, bisect_right(begins, span[0]) - 1)]
            where = f"as the long form at {one.span[0]}-{one.span[1]}"
            if one.said:
                if not layer.types(span) & {mention.type for mention in one.said}:
                    layer.set_types(span, one.said, where)
            elif rules.drop and not one.is_mentioned and span in layer.at:
                layer.drop(span, f"{where} is no mention")


def _unify(layer: _Layer) -> None:
    """Gives each string its most frequent types, weighted by score."""
    groups: dict[str, list[Span]] = defaultdict(list)
    for span in layer.at:
        groups[layer.text[slice(*span)]].append(span)
    for spans in groups.values():
        votes: dict[Types, float] = defaultdict(float)
        for span in spans:
            votes[layer.types(span)] += sum(1.0 if one.score is None else one.score for one in layer.at[span])
        if len(votes) == 1:
            continue
        best = min(votes, key=lambda types: (-votes[types], sorted(types)))
        like = next(layer.at[span] for span in sorted(spans) if layer.types(span) == best)
        for span in sorted(spans):
            if layer.types(span) != best:
                layer.set_types(span, like, "as the same words are elsewhere in the document")


Found = Mapping[str, tuple[Mention, ...]]


@dataclass(frozen=True, kw_only=True)
class FittedRules:
    """Result of the selection of rules.

    Attributes:
        rules: for the decision of the model.
        tried: all rules, with the merit of each; the first ones have none on.
        definitions: of short forms in the documents.
    """

    rules: AbbreviationDecision
    tried: tuple[tuple[AbbreviationRules, float], ...]
    definitions: int

    def as_dict(self) -> dict[str, Any]:
        """Returns what a run stores: the rules, F1 without and with them, and the number of definitions."""
        rules = {name: getattr(self.rules, name) for name in AbbreviationRules.__struct_fields__}
        return {**rules, "dev_f1": self.after, "dev_f1_without": self.before, "definitions": self.definitions}

    @property
    def before(self) -> float:
        """F1 without rules."""
        return self.tried[0][1]

    @property
    def after(self) -> float:
        """F1 with the selected rules."""
        return max(merit for _, merit in self.tried)


def candidates() -> Iterator[AbbreviationRules]:
    """Yields all sets of rules, those with fewer changes first."""
    spreads: tuple[Spread, ...] = get_args(Spread)
    every = (
        AbbreviationRules(spread=spread, drop=drop, one_type=one_type)
        for spread, drop, one_type in product(spreads, (False, True), (False, True))
    )
    yield from sorted(every, key=lambda rules: (rules.spread != "no") + rules.drop + rules.one_type)


def fit_rules(
    documents: Sequence[Document], found: Found, *, merit: Callable[[Found], float], chosen_on: str
) -> FittedRules:
    """Tries all rules on development documents and returns the best; in a tie, those with fewer changes.

    Args:
        documents: development documents.
        found: document id -> the mentions of the model, for each document.
        merit: what such mentions are worth, e.g. their F1.
        chosen_on: sha256 of the documents.
    """
    known = [msgspec.structs.replace(one, abbreviations=abbreviations_of(one)) for one in documents]
    tried = tuple(
        (rules, merit({one.id: resolved(one, Patch(add=found[one.id]), rules).add for one in known}))
        for rules in candidates()
    )
    best, _ = max(tried, key=lambda pair: pair[1])  # the first of several
    rules = AbbreviationDecision(spread=best.spread, drop=best.drop, one_type=best.one_type, chosen_on=chosen_on)
    return FittedRules(rules=rules, tried=tried, definitions=sum(len(one.abbreviations or ()) for one in known))
