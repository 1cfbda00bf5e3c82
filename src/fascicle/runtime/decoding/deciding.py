"""The last step of a decision: edges, thresholds by type, and names that are marked throughout a
document.

A name means the same throughout a stretch that speaks of one matter. Cells of tables, and texts of
a few words, are texts of their own, which may be names alone.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import msgspec

from fascicle.core.document import Document, Event, Mention, Patch, in_order
from fascicle.core.lazy import cached_property
from fascicle.core.mention import (
    Fragments,
    PlacedMentions,
    PlacedSpans,
    Span,
    contains,
    fragments_overlap,
)
from fascicle.core.wording import plural
from fascicle.runtime.decoding.edges import bare_span, neutral_span
from fascicle.runtime.decoding.evidence import FindTypes, with_evidence
from fascicle.runtime.decoding.selection import CLIP
from fascicle.settings.decision import (
    DocumentDecision,
    Ends,
    LogisticCurve,
    NameDecision,
    TypeDecision,
)
from fascicle.text.borders import list_items
from fascicle.text.characters import find_occurrences, plain_text

ABSTRACT: Final = 5_000  # characters: hardly any abstract is longer
_HEAD: Final = frozenset({"title", "abstract"})
_BLANK_LINE: Final = re.compile(r"\n[^\S\n]*\n")


def name_scopes(document: Document) -> tuple[Span, ...]:
    """Returns the stretches of a document within which names are marked: abstracts, sections or
    passages.

    A document with sections is one stretch up to 5,000 characters; of a longer one, the title and
    the abstract are one, and each other section is one. Without sections, a blank line ends a
    stretch, and in what is longer than 5,000 characters each line does.

    Args:
        document: its sections are taken as they are.

    Returns:
        Stretches in order, which together hold all of the text.
    """
    text = document.text
    if document.sections:
        cuts = () if len(text) <= ABSTRACT else _section_cuts(document)
    else:
        cuts = (match.end() for match in _BLANK_LINE.finditer(text))
    stretches = _between(cuts, (0, len(text)))
    if document.sections:
        return tuple(stretches)
    return tuple(part for stretch in stretches for part in _lines(text, stretch))


def _section_cuts(document: Document) -> Iterator[int]:
    """Yields the start of each section, except where it and the section before both belong to
    the head.
    """
    sections = sorted(document.sections or (), key=lambda section: (section.start, section.end))
    for before, section in pairwise(sections):
        if not {before.name.casefold(), section.name.casefold()} <= _HEAD:
            yield section.start


def _lines(text: str, span: Span) -> Iterable[Span]:
    start, end = span
    if end - start <= ABSTRACT:
        return (span,)
    return _between((match.end() for match in re.compile(r"\n").finditer(text, start, end)), span)


def _between(cuts: Iterable[int], span: Span) -> Iterator[Span]:
    places = sorted({span[0], span[1], *(cut for cut in cuts if span[0] < cut < span[1])})
    return pairwise(places)


_TAB: Final = "\t"
_LINE: Final = re.compile(r"[^\n]+")
_CELL: Final = re.compile(r"[^\t\n]+")


def short_cells(document: Document, rules: NameDecision) -> tuple[Span, ...]:
    """Returns the cells of the rows of a document whose cells are all short, and the short items of
    its lists.

    A row is a line with a TAB in it, or a document with several sections, each of which is a cell.
    A row of one cell is none, and one with a longer cell is running text, which a model reads as a
    whole. No cell has blanks at its edges, and no item its bullet or label.

    Args:
        document: of any kind.
        rules: how many words a cell has at most.
    """
    text = document.text
    rows = (
        (_cells_of(text, line.span()) for line in _LINE.finditer(text) if _TAB in line[0])
        if _TAB in text
        else iter(())
    )
    sections = document.sections or ()
    if len(sections) > 1 and _TAB not in text:
        rows = iter([[_trimmed(text, (section.start, section.end)) for section in sections]])
    cells = [cell for row in rows for cell in _if_short(text, row, rules.words)]
    if cells and _TAB not in text:
        return tuple(cells)
    items = (
        item
        for item in list_items(text)
        if item.is_listed and _TAB not in text[item.start : item.end]
    )
    spans = (_trimmed(text, (item.body, item.end)) for item in items)
    return tuple(sorted([*cells, *(span for span in spans if _is_short(text, span, rules.words))]))


def _cells_of(text: str, line: Span) -> list[Span]:
    return [_trimmed(text, cell.span()) for cell in _CELL.finditer(text, *line)]


def _trimmed(text: str, span: Span) -> Span:
    part = text[slice(*span)]
    return span[0] + len(part) - len(part.lstrip()), span[0] + len(part.rstrip())


def _if_short(text: str, row: list[Span], words: int) -> Iterator[Span]:
    cells = [(start, end) for start, end in row if start < end]
    if len(cells) > 1 and all(_is_short(text, cell, words) for cell in cells):
        yield from cells


def _is_short(text: str, cell: Span, words: int) -> bool:
    return 0 < len(text[slice(*cell)].split()) <= words


STOP: Final = " ."
_LEAST: Final = 3  # letters and digits: shorter ones are read once
_ENDS: Final = re.compile(r"[.!?;:]\s*\Z")


def may_be_name(text: str, rules: NameDecision) -> bool:
    """True if a text is short enough to be a name and is no sentence."""
    return 0 < len(text.split()) <= rules.words and not _ENDS.search(text)


def may_be_read_again(text: str) -> bool:
    """True if a text has enough letters and digits to be worth a second reading."""
    return sum(map(str.isalnum, text)) >= _LEAST


def covering(text: str, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Returns the mentions that each cover a whole text, except for white space."""
    start, end = _trimmed(text, (0, len(text)))
    return tuple(
        mention
        for mention in mentions
        if len(mention.spans) == 1 and mention.start <= start and mention.end >= end
    )


_STEP: Final = "document"
_FAR: Final = 700.0  # of log odds, beyond which a probability is 0 or 1
_Cuts = Callable[[str], Sequence[Span]]
_NONE: Final = TypeDecision()


def find_no_types(names: Collection[str]) -> Mapping[str, str]:
    """Returns no types: looks names up where there is no pack."""
    return {}


def decide_mentions(
    document: Document,
    patch: Patch,
    rules: DocumentDecision,
    *,
    sentences: _Cuts,
    knows: FindTypes = find_no_types,
) -> Patch:
    """Applies the decision on documents to the answer of a predictor; an event describes each
    change.

    First the edges of each mention are brought in order (`fascicle.runtime.decoding.edges`). Then,
    in each stretch of the text (`fascicle.runtime.decoding.deciding`) and for each type, mentions
    below ``low`` go. A name with a mention of at least ``high`` is marked wherever it stands as a
    word of its own and no mention of the type overlaps, or only less probable parts of it, which
    go; all mentions of such a name have its best score. In a stretch of one sentence, mentions
    below ``alone`` go, and nothing is marked. In both, a name that means the type alone by what
    ``knows`` says stays from ``known`` on. At last scores become probabilities, and ends are cut
    where that was decided. Discontinuous mentions keep their edges and are not marked. Mentions
    without a score are kept.

    Args:
        document: the document that was read.
        patch: the answer for this document.
        rules: of the model.
        sentences: cuts a text into sentences, where the document has none.
        knows: is asked for names whose mentions would go otherwise.

    Returns:
        The same patch if nothing changes.
    """
    return all_decided([document], [patch], rules, sentences=sentences, knows=knows)[0]


def all_decided(
    documents: Sequence[Document],
    patches: Sequence[Patch],
    rules: DocumentDecision,
    *,
    sentences: _Cuts,
    knows: FindTypes,
    source: str = "",
) -> list[Patch]:
    """Applies `decide_mentions` to several documents; ``knows`` is asked for the names of all."""
    patches = with_evidence(documents, patches, rules, knows=knows, source=source)
    works = [
        _Work(*pair, rules, sentences)
        for pair in zip(documents, patches, strict=True)
        if pair[1].add
    ]
    names = set[str]().union(*(work.asked for work in works))
    types, next_one = knows(names) if names else {}, iter(works)
    return [next(next_one).patch(types) if patch.add else patch for patch in patches]


def _count(mentions: Counter[Any]) -> str:
    return plural(mentions.total(), "mention")


def _is_part(spans: Fragments, whole: Span) -> bool:
    return len(spans) == 1 and contains(whole, spans[0])


class _Work:
    """State of the decision for one document.

    Attributes:
        asked: names whose mentions stay only if they are known.
    """

    def __init__(
        self, document: Document, patch: Patch, rules: DocumentDecision, sentences: _Cuts
    ) -> None:
        self._document, self._patch = document, patch
        self._text = plain_text(document.text)
        self._rules = rules
        self._sentences = sentences
        self._scopes = name_scopes(document)
        self._starts = [start for start, _ in self._scopes]
        self._is_name = may_be_name(document.text, rules.names) if rules.names else False
        self._groups = self._in_order(patch.add)
        groups = {} if self._is_name else self._groups
        self.asked = {
            name
            for kind, group in groups.items()
            for name in self._names_to_ask(group, self._rule(kind))
        }

    def patch(self, types: Mapping[str, str]) -> Patch:
        """Returns the patch by the decision, with an event if a mention went or came."""
        found, given = (
            self._decided({name: types[name] for name in self.asked if name in types}),
            self._patch.add,
        )
        if found == given:
            return self._patch
        before, after = (
            Counter((one.type, one.spans) for one in mentions) for mentions in (given, found)
        )
        message = (
            f"{_count(before - after)} went and {_count(after - before)} came by the "
            "decision of documents"
        )
        event = Event(step=_STEP, kind="note", code="document-decision", message=message)
        events = (*self._patch.events, event) if before != after else self._patch.events
        return msgspec.structs.replace(self._patch, add=found, events=events)

    def _decided(self, types: Mapping[str, str]) -> tuple[Mention, ...]:
        decided: dict[tuple[str, tuple[Span, ...]], Mention] = {}
        for kind, group in self._groups.items():
            rule = self._rule(kind)
            names = {name for name, type_ in types.items() if type_ == kind}
            for mention in self._finish(self._of_type(group, rule, names_of_pack=names), rule):
                decided.setdefault((kind, mention.spans), mention)
        return in_order(decided.values())

    def _in_order(self, mentions: Sequence[Mention]) -> dict[str, list[Mention]]:
        """Mentions of each type with neutral edges, better scores first; of two that come to
        meet, one is left.
        """
        changed: list[tuple[Mention, Mention]] = []
        # as they were, and as they are
        kept: dict[str, list[tuple[Mention, Mention]]] = defaultdict(list)
        for mention in mentions:
            span = (
                neutral_span(self._text, mention.spans[0], kind=mention.type)
                if len(mention.spans) == 1
                else ()
            )
            if span is None:
                continue
            if span in ((), mention.spans[0]):
                kept[mention.type].append((mention, mention))
            else:
                changed.append((mention, msgspec.structs.replace(mention, spans=(span,))))
        placed = (
            {kind: PlacedMentions(now for _, now in pairs) for kind, pairs in kept.items()}
            if changed
            else {}
        )
        for before, after in sorted(changed, key=lambda pair: _order(pair[1])):
            others, near = kept[before.type], placed.setdefault(before.type, PlacedMentions(()))
            met = [
                at
                for at in near.beside(after)
                if _overlap(after, others[at][1]) and not _overlap(before, others[at][0])
            ]
            if not met:
                near.put(len(others), after)
                others.append((before, after))
            elif len(met) == 1 and (joined := self._joined(others[met[0]][1], after)):
                near.put(met[0], joined, before=others[met[0]][1])
                others[met[0]] = (others[met[0]][0], joined)
        return {kind: sorted((now for _, now in pairs), key=_order) for kind, pairs in kept.items()}

    def _joined(self, mention: Mention, other: Mention) -> Mention | None:
        """Joins two mentions whose joint range is one name, such as parts around ``-1,3-``;
        ``None`` if it is none.
        """
        if len(mention.spans) > 1:
            return None
        span = min(mention.start, other.start), max(mention.end, other.end)
        is_name = neutral_span(self._text, span, kind=mention.type) == span
        return msgspec.structs.replace(mention, spans=(span,)) if is_name else None

    def _rule(self, kind: str) -> TypeDecision:
        return self._rules.types.get(kind, _NONE)

    def _of_type(
        self, mentions: Sequence[Mention], rule: TypeDecision, *, names_of_pack: Collection[str]
    ) -> list[Mention]:
        """Returns the mentions of a type that are kept, and the other occurrences of its names."""
        if self._is_name or (
            rule.high == 1.0
            and all(_score(mention) >= max(rule.low, rule.alone) for mention in mentions)
        ):
            return list(mentions)
        kept: list[Mention] = []
        names: dict[int, dict[str, Mention]] = defaultdict(dict)  # of each stretch
        for mention in mentions:  # the best one of each name comes first
            at = self._stretch(mention)
            alone, name = self._is_alone[at], self._name(mention)
            if not alone and name and mention.score is not None and mention.score >= rule.high:
                names[at].setdefault(name, mention)
            if _score(mention) >= (rule.alone if alone else rule.low) or (
                name in names_of_pack and _score(mention) >= rule.known
            ):
                kept.append(mention if alone else self._with_best_score(mention, names[at]))
        return self._marked(
            names, kept, own={mention.spans: _score(mention) for mention in mentions}
        )

    def _names_to_ask(self, mentions: Sequence[Mention], rule: TypeDecision) -> set[str]:
        """Names whose mentions stay only if they are known."""
        below = max(rule.low, rule.alone)
        return {
            self._name(mention) for mention in mentions if rule.known <= _score(mention) < below
        } - {""}

    def _name(self, mention: Mention) -> str:
        """Returns the text of a mention in one piece; empty for a mention in several pieces."""
        return self._text[mention.start : mention.end] if len(mention.spans) == 1 else ""

    def _stretch(self, mention: Mention) -> int:
        return bisect_right(self._starts, mention.start) - 1

    @cached_property
    def _is_alone(self) -> list[bool]:
        """Returns for each stretch whether it has at most one sentence."""
        return [self._sentence_count(scope) < 2 for scope in self._scopes]

    def _sentence_count(self, scope: Span) -> int:
        sentences = self._document.sentences
        if sentences is None:
            return len(self._sentences(self._text[slice(*scope)]))
        return bisect_left(sentences, (scope[1], 0)) - bisect_left(sentences, (scope[0], 0))

    def _with_best_score(self, mention: Mention, names: Mapping[str, Mention]) -> Mention:
        best = names.get(self._name(mention))
        return (
            msgspec.structs.replace(mention, score=best.score)
            if best and mention.score is not None
            else mention
        )

    def _marked(
        self,
        names: Mapping[int, Mapping[str, Mention]],
        kept: Sequence[Mention],
        own: Mapping[Any, float],
    ) -> list[Mention]:
        """Returns mentions, and names of each stretch where none is or less probable parts;
        longer names first.
        """
        stand = {one.spans for one in kept}
        owners = defaultdict[Span, list[Fragments]](list)
        for spans in stand:
            for span in spans:
                owners[span].append(spans)
        places, marked = PlacedSpans(owners), list[Mention]()
        for number, known in names.items():
            begin, stop = self._scopes[number]
            found = find_occurrences(self._text[begin:stop], known)
            for name in sorted(found, key=lambda one: (-len(one), one)):
                like = known[name]
                for span in ((begin + start, begin + end) for start, end in found[name]):
                    if (span,) in stand or neutral_span(self._text, span, kind=like.type) != span:
                        continue
                    met = {
                        spans
                        for one in places.overlapping(span)
                        for spans in owners[one]
                        if spans in stand
                    }
                    if all(
                        _is_part(spans, span) and own.get(spans, 1.0) <= _score(like)
                        for spans in met
                    ):
                        stand -= met
                        stand.add((span,))
                        if span not in owners:
                            places.add(span)
                        owners[span].append((span,))
                        marked.append(
                            Mention((span,), like.type, score=like.score, source=like.source)
                        )
        return [*(one for one in kept if one.spans in stand), *marked]

    def _finish(self, mentions: Iterable[Mention], rule: TypeDecision) -> Iterator[Mention]:
        """Returns the mentions with their final ends and probabilities."""
        for mention in mentions:
            spans, score = mention.spans, mention.score
            if len(spans) == 1 and self._ends(mention, rule) == "bare":
                spans = (bare_span(self._text, spans[0], kind=mention.type),)
            if rule.curve and score is not None:
                score = apply_curve(score, rule.curve)
            yield (
                mention
                if (spans, score) == (mention.spans, mention.score)
                else msgspec.structs.replace(mention, spans=spans, score=score)
            )

    def _ends(self, mention: Mention, rule: TypeDecision) -> Ends:
        if rule.ends == rule.ends_alone:
            return rule.ends
        return rule.ends_alone if self._is_alone[self._stretch(mention)] else rule.ends


def apply_curve(score: float, curve: LogisticCurve) -> float:
    """Returns the calibrated probability of a score by a curve, with six decimals as all scores."""
    # plain numbers: arrays of one would take most of the time of a decision
    odds = min(max(score, CLIP), 1.0 - CLIP)
    value = curve.slope * (math.log(odds) - math.log1p(-odds)) + curve.offset
    return round(1.0 / (1.0 + math.exp(-min(max(value, -_FAR), _FAR))), 6)


def _score(mention: Mention) -> float:
    return 1.0 if mention.score is None else mention.score


def _order(mention: Mention) -> tuple[float, tuple[Span, ...]]:
    return -_score(mention), mention.spans


def _overlap(mention: Mention, other: Mention) -> bool:
    return fragments_overlap(mention.spans, other.spans)
