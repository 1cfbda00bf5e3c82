"""Abbreviation step: adds, retypes or drops mentions by the short forms and long forms of a
document.

Its rules are selected on development documents; no rule at all is one of the choices.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final, get_args

import msgspec
from msgspec.structs import replace

from fascicle.core.document import Document, Event, Patch, in_order
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Mention, PlacedSpans, Span, contains
from fascicle.settings.decision import AbbreviationDecision, AbbreviationRules, Spread
from fascicle.terms.abbreviations.definitions import FormMeanings
from fascicle.terms.abbreviations.finder import abbreviations_of
from fascicle.text.characters import find_occurrences

_STEP: Final = "abbreviations"
_Types = frozenset[str]
_LOOSE: Final = re.compile(
    r", |\b(?:of|in|and|to|by|as|soluble|recombinant|human|anti|induced|related|associated)\b"
)
Found = Mapping[str, tuple[Mention, ...]]


def apply_rules(
    document: Document, patch: Patch, rules: AbbreviationRules, *, apart: Sequence[str] = ()
) -> Patch:
    """Applies the rules for abbreviations to the result of a predictor; an event records each
    mention that changes.

    Of several definitions of a short form, the last one before a place decides there. A long form
    of which only last words are a mention becomes one as a whole if its short form has the same
    type. Else nothing is added where a mention overlaps. An added or retyped mention has the score
    of the mention that decided: of a long form the best one that it has anywhere, for it may be in
    a title or a heading where it is first defined. Discontinuous mentions stay as they are.

    Args:
        document: its ``abbreviations``, or else those that its text defines.
        patch: the answer for this document.
        rules: which changes are made.
        apart: types to which the rules are applied one by one, so that they change no mention of
            another type.

    Returns:
        The same patch if nothing changes.
    """
    if not patch.add or not rules.change:
        return patch
    if apart:
        return _each(document, patch, rules, apart)
    layer = _Layer(document.text, patch.add)
    if rules.spread != "no" or rules.drop:
        _resolve(layer, abbreviations_of(document), rules)
    if rules.one_type:
        _unify(layer, FormMeanings(document))
    if not layer.events:
        return patch
    return replace(patch, add=layer.mentions(), events=(*patch.events, *layer.events))


def _each(
    document: Document, patch: Patch, rules: AbbreviationRules, apart: Sequence[str]
) -> Patch:
    """Applies the rules to the mentions of each type kept apart, and to all others."""
    defined = replace(document, abbreviations=abbreviations_of(document))
    groups: dict[str, list[Mention]] = defaultdict(list)
    for mention in patch.add:
        groups[mention.type if mention.type in apart else ""].append(mention)
    patches = [
        apply_rules(defined, Patch(add=tuple(groups[kind])), rules) for kind in sorted(groups)
    ]
    if not (events := tuple(event for changed in patches for event in changed.events)):
        return patch
    add = in_order([mention for changed in patches for mention in changed.add])
    return replace(patch, add=add, events=(*patch.events, *events))


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
        self._places = PlacedSpans(self.at)
        for span in sorted(self.at):
            self.ending[span[1]].append(span)

    def within(self, span: Span) -> list[Span]:
        """Returns the places of mentions that overlap a range, in order."""
        return [place for place in self._places.overlapping(span) if place in self.at]

    def overlaps(self, span: Span) -> bool:
        return self._covered.find(1, *span) >= 0

    @cached_property
    def _best(self) -> Mapping[tuple[str, str], float]:
        """Best score of each name of each type, whether it begins a sentence or not."""
        scores: dict[tuple[str, str], float] = {}
        for span, mentions in self.at.items():
            for mention in mentions:
                name = (mention.type, self._name(span))
                scores[name] = max(scores.get(name, 0.0), mention.score or 0.0)
        return scores

    def _name(self, span: Span) -> str:
        name = self.text[slice(*span)]
        return name[:1].lower() + name[1:]

    def at_best(self, span: Span) -> tuple[Mention, ...]:
        """Returns the mentions at a place with the best scores that their name has."""
        return tuple(
            mention
            if mention.score is None
            else replace(mention, score=self._best[mention.type, self._name(span)])
            for mention in self.at.get(span, ())
        )

    def types(self, span: Span) -> _Types:
        return frozenset(mention.type for mention in self.at.get(span, ()))

    def set_types(self, span: Span, like: Sequence[Mention], why: str) -> None:
        """Gives the mentions at a place new types; adds mentions where nothing overlaps."""
        if span not in self.at and self.overlaps(span):
            return
        action = "retyped" if span in self.at else "added"
        if span not in self.at:
            self._places.add(span)
        self.at[span] = [
            Mention((span,), mention.type, score=mention.score, source=self.source)
            for mention in like
        ]
        self._covered[span[0] : span[1]] = b"\1" * (span[1] - span[0])
        self._tell(
            action,
            span,
            f"{action} as {' and '.join(sorted(mention.type for mention in like))}, {why}",
        )

    def widen(self, short: Span, long: Span) -> None:
        """Makes a mention of all of a long form of which only last words are one, of a type of
        its short form.
        """
        tails = [span for span in self.ending.get(long[1], ()) if long[0] < span[0]]
        kinds = self.types(short) & frozenset[str]().union(*map(self.types, tails))
        if not kinds or _LOOSE.search(self.text, long[0], tails[0][0]):
            return
        met = self.within(long)
        if long in met or any(span[0] < long[0] for span in met):
            return
        like = {
            mention.type: mention
            for mention in sorted((*self.at[tails[0]], *self.at[short]), key=_score)
            if mention.type in kinds
        }
        for span in met:
            self.drop(span, f"a part of the long form at {long[0]}-{long[1]}")
        self._covered[slice(*long)] = bytes(long[1] - long[0])
        self.set_types(long, list(like.values()), f"as the short form at {short[0]}-{short[1]}")
        self.ending[long[1]] = [long]

    def drop(self, span: Span, why: str) -> None:
        kinds = " and ".join(sorted(self.types(span)))
        del self.at[span]  # the place stays covered: what was dropped is not added again
        self._tell("dropped", span, f"dropped: {kinds}, {why}")

    def _tell(self, what: str, span: Span, message: str) -> None:
        self.events.append(
            Event(step=_STEP, kind="note", code=f"abbreviation-{what}", message=message, span=span)
        )

    def mentions(self) -> tuple[Mention, ...]:
        return in_order(
            [*self._rest, *(mention for group in self.at.values() for mention in group)]
        )


def _score(mention: Mention) -> float:
    return 1.0 if mention.score is None else mention.score


class _Long:
    """Long form of a definition, with its mentions before any change."""

    def __init__(self, layer: _Layer, short: Span, long: Span, rules: AbbreviationRules) -> None:
        self.begins = min(short[0], long[0])
        self.span = long
        within = layer.within(long)
        self._types = frozenset[str]().union(*map(layer.types, within))
        self._is_headed = any(place[1] > layer.text.rfind(" ", *long) for place in within)
        self._is_mentioned = layer.overlaps(long)
        self.deciding: Sequence[Mention] = ()
        if rules.spread == "exact":
            self.deciding = layer.at_best(long)
        elif rules.spread == "end":
            over = [span for span in layer.ending.get(long[1], ()) if span in layer.at]
            self.deciding = layer.at_best(over[0]) if over else ()

    def denies(self, types: _Types) -> bool:
        """True if the long form is no mention, or has mentions of other types alone, all before
        its last word.
        """
        return not self._is_mentioned or not (self._is_headed or types & self._types)


def _resolve(layer: _Layer, pairs: Iterable[tuple[Span, Span]], rules: AbbreviationRules) -> None:
    """Spreads the types of long forms to their short forms, and drops short forms without one."""
    definitions: dict[str, list[_Long]] = defaultdict(list)
    pairs = sorted(pairs)
    for short, long in pairs if rules.spread == "end" else ():
        layer.widen(short, long)
    for short, long in pairs:
        definitions[layer.text[slice(*short)]].append(_Long(layer, short, long, rules))
    places = find_occurrences(layer.text, definitions)
    for form in sorted(places, key=lambda form: (-len(form), form)):
        long_forms = sorted(definitions[form], key=lambda long_form: long_form.begins)
        begins = [long_form.begins for long_form in long_forms]
        for span in places[form]:
            last_before = max(0, bisect_right(begins, span[0]) - 1)
            _resolve_short(layer, span, long_forms[last_before], drop=rules.drop)


def _resolve_short(layer: _Layer, span: Span, long_form: _Long, *, drop: bool) -> None:
    where = f"as the long form at {long_form.span[0]}-{long_form.span[1]}"
    if long_form.deciding:
        if not layer.types(span) & {mention.type for mention in long_form.deciding}:
            layer.set_types(span, long_form.deciding, where)
    elif drop and layer.overlaps(span):
        for part in layer.within(span):
            if contains(span, part) and long_form.denies(layer.types(part)):
                layer.drop(part, f"{where} is no mention")


def _unify(layer: _Layer, meanings: FormMeanings) -> None:
    """Gives each string its most frequent types, weighted by score; a short form that is defined
    twice is two strings.
    """
    groups: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for span in layer.at:
        name = layer.text[slice(*span)]
        groups[name, meanings.at(name, span[0])].append(span)
    for spans in groups.values():
        votes: dict[_Types, float] = defaultdict(float)
        for span in spans:
            votes[layer.types(span)] += sum(map(_score, layer.at[span]))
        if len(votes) == 1:
            continue
        best = min(votes, key=lambda types: (-votes[types], sorted(types)))
        like = next(layer.at[span] for span in sorted(spans) if layer.types(span) == best)
        for span in sorted(spans):
            if layer.types(span) != best:
                layer.set_types(span, like, "as the same words are elsewhere in the document")


class FittedRules(msgspec.Struct, frozen=True, kw_only=True):
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
        """Returns what a run stores: the rules, F1 without and with them, and the number of
        definitions.
        """
        rules = {name: getattr(self.rules, name) for name in AbbreviationRules.__struct_fields__}
        return {
            **rules,
            "dev_f1": self.after,
            "dev_f1_without": self.before,
            "definitions": self.definitions,
        }

    @property
    def before(self) -> float:
        """F1 without rules."""
        return self.tried[0][1]

    @property
    def after(self) -> float:
        """F1 with the selected rules."""
        return max(merit for _, merit in self.tried)


def all_rule_sets() -> Iterator[AbbreviationRules]:
    """Yields all sets of rules, those with fewer changes first."""
    spreads: tuple[Spread, ...] = get_args(Spread)
    every = (
        AbbreviationRules(spread=spread, drop=drop, one_type=one_type)
        for spread, drop, one_type in product(spreads, (False, True), (False, True))
    )
    yield from sorted(every, key=lambda rules: (rules.spread != "no") + rules.drop + rules.one_type)


def fit_rules(
    documents: Sequence[Document],
    mentions: Found,
    *,
    merit: Callable[[Found], float],
    chosen_on: str,
    apart: Sequence[str] = (),
) -> FittedRules:
    """Tries all rules on development documents and returns the best; in a tie, those with fewer
    changes.

    Args:
        documents: development documents.
        mentions: document id -> the mentions of the model, for each document.
        merit: what such mentions are worth, e.g. their F1.
        chosen_on: sha256 of the documents.
        apart: see `apply_rules`.
    """
    defined = [
        replace(document, abbreviations=abbreviations_of(document)) for document in documents
    ]
    tried = tuple(
        (
            rules,
            merit(
                {
                    document.id: apply_rules(
                        document, Patch(add=mentions[document.id]), rules, apart=apart
                    ).add
                    for document in defined
                }
            ),
        )
        for rules in all_rule_sets()
    )
    best, _ = max(tried, key=lambda pair: pair[1])  # the first of several
    rules = AbbreviationDecision(
        spread=best.spread, drop=best.drop, one_type=best.one_type, chosen_on=chosen_on
    )
    return FittedRules(
        rules=rules,
        tried=tried,
        definitions=sum(len(document.abbreviations or ()) for document in defined),
    )
