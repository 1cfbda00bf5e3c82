"""The last step of a decision: edges, thresholds by type, and names that are marked throughout a
document.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from fascicle.core.document import Document, Event, Mention, Patch, in_order
from fascicle.core.mention import Span
from fascicle.core.wording import plural
from fascicle.runtime.decoding.bare import bare_span
from fascicle.runtime.decoding.evidence import FindTypes, with_evidence
from fascicle.runtime.decoding.neutral import score_of, with_neutral_edges
from fascicle.runtime.decoding.occurrences import Name, mark_occurrences
from fascicle.runtime.decoding.scopes import Stretches
from fascicle.runtime.decoding.selection import CLIP
from fascicle.runtime.decoding.short_texts import may_be_name
from fascicle.settings.decision import DocumentDecision, Ends, LogisticCurve, TypeDecision
from fascicle.terms.abbreviations.definitions import FormMeanings
from fascicle.text.borders import without_wraps
from fascicle.text.characters import plain_text

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

    Evidence from outside the network comes before (`fascicle.runtime.decoding.evidence`). First the
    edges of each mention are brought in order (`fascicle.runtime.decoding.edges`). Then, in each
    stretch of the text (`fascicle.runtime.decoding.scopes`: two abstracts without an empty line
    between them are one stretch) and for each type, mentions below ``low`` go. A name with a
    mention of at least ``high`` is marked wherever it stands as a word of its own and no mention of
    the type overlaps, or only less probable parts of it, which go; all mentions of such a name have
    its best score. In a stretch of one sentence, mentions below ``alone`` go, and nothing is
    marked. In both, a name that means the type alone by what ``knows`` says stays from ``known``
    on. At last scores become probabilities, and ends are cut where that was decided. Discontinuous
    mentions keep their edges and are not marked. Mentions without a score are kept.

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
    plain = [plain_text(document.text) for document in documents]
    names_texts = list(map(without_wraps, plain))
    patches = with_evidence(
        documents, patches, rules, texts=names_texts, knows=knows, source=source
    )
    decisions = [
        _TextDecision(document, patch, rules, sentences, text=text, names_text=names_text)
        if patch.add
        else None
        for document, patch, text, names_text in zip(
            documents, patches, plain, names_texts, strict=True
        )
    ]
    names = set[str]().union(*(decision.unsure_names for decision in decisions if decision))
    types = knows(names) if names else {}
    return [
        decision.patch(types) if decision else patch
        for decision, patch in zip(decisions, patches, strict=True)
    ]


class _TextDecision:
    """The decision for one document.

    Attributes:
        unsure_names: names whose mentions stay only if they are known.
    """

    def __init__(
        self,
        document: Document,
        patch: Patch,
        rules: DocumentDecision,
        sentences: _Cuts,
        *,
        text: str,
        names_text: str,
    ) -> None:
        self._patch, self._rules = patch, rules
        self._text, self._names_text = text, names_text
        self._stretches = Stretches(document, self._text, sentences)
        self._meanings = FormMeanings(document)
        self._is_name = bool(rules.names and may_be_name(document.text, rules.names))
        self._groups = with_neutral_edges(self._text, patch.add)
        self.unsure_names = set[str]()
        if not self._is_name:
            for kind, group in self._groups.items():
                self.unsure_names |= self._unsure(group, self._rule(kind))

    def patch(self, types: Mapping[str, str]) -> Patch:
        """Returns the patch by the decision, with an event if a mention went or came.

        Args:
            types: of the names that are known, those of `unsure_names` among them.
        """
        mentions = self._decide(types)
        if mentions == self._patch.add:
            return self._patch
        events = self._patch.events
        before, after = _places(self._patch.add), _places(mentions)
        if before != after:
            message = (
                f"the rules for whole documents removed {_count(before - after)} and added "
                f"{_count(after - before)}"
            )
            event = Event(step=_STEP, kind="note", code="document-decision", message=message)
            events = (*events, event)
        return replace(self._patch, add=mentions, events=events)

    def _decide(self, types: Mapping[str, str]) -> tuple[Mention, ...]:
        mentions: dict[tuple[str, tuple[Span, ...]], Mention] = {}
        for kind, group in self._groups.items():
            rule = self._rule(kind)
            names = {name for name in self.unsure_names if types.get(name) == kind}
            for mention in self._of_type(group, rule, pack_names=names):
                final = self._finish(mention, rule)
                mentions.setdefault((kind, final.spans), final)
        return in_order(mentions.values())

    def _rule(self, kind: str) -> TypeDecision:
        return self._rules.types.get(kind, _NONE)

    def _of_type(
        self, mentions: Sequence[Mention], rule: TypeDecision, *, pack_names: Collection[str]
    ) -> list[Mention]:
        """Returns the mentions of a type that stay, and the other occurrences of its names."""
        least = max(rule.low, rule.alone)
        # no mention would go, and no name is sure enough to be marked elsewhere
        if self._is_name or (
            rule.high == 1.0 and all(score_of(mention) >= least for mention in mentions)
        ):
            return list(mentions)
        best = self._best_names(mentions, rule)
        stay = [
            self._like_best(mention, best)
            for mention in mentions
            if score_of(mention) >= self._least_score(mention, rule, pack_names)
        ]
        scores = {mention.spans: score_of(mention) for mention in mentions}
        return mark_occurrences(
            self._names_text, stay, best, scores=scores, meanings=self._meanings
        )

    def _best_names(
        self, mentions: Sequence[Mention], rule: TypeDecision
    ) -> dict[Span, dict[Name, Mention]]:
        """Returns the best mention of each sure name, by the stretches of more than a sentence."""
        best: dict[Span, dict[Name, Mention]] = defaultdict(dict)
        for mention in mentions:  # the best one of each name comes first
            name, number = self._defined(mention), self._stretches.number_of(mention)
            is_sure = mention.score is not None and mention.score >= rule.high
            if is_sure and name[0] and not self._stretches.are_alone[number]:
                best[self._stretches.spans[number]].setdefault(name, mention)
        return best

    def _like_best(self, mention: Mention, best: Mapping[Span, Mapping[Name, Mention]]) -> Mention:
        """Returns a mention with the score of the best one of its name in its stretch."""
        stretch = self._stretches.spans[self._stretches.number_of(mention)]
        like = best.get(stretch, {}).get(self._defined(mention))
        if like is None or mention.score is None:
            return mention
        return replace(mention, score=like.score)

    def _least_score(
        self, mention: Mention, rule: TypeDecision, pack_names: Collection[str]
    ) -> float:
        is_alone = self._stretches.are_alone[self._stretches.number_of(mention)]
        least = rule.alone if is_alone else rule.low
        return min(least, rule.known) if self._name(mention) in pack_names else least

    def _unsure(self, mentions: Sequence[Mention], rule: TypeDecision) -> set[str]:
        """Returns the names whose mentions stay only if they are known."""
        below = max(rule.low, rule.alone)
        unsure = (mention for mention in mentions if rule.known <= score_of(mention) < below)
        return set(map(self._name, unsure)) - {""}

    def _name(self, mention: Mention) -> str:
        """Returns the text of a mention in one piece; empty for a mention in several pieces."""
        return self._names_text[mention.start : mention.end] if len(mention.spans) == 1 else ""

    def _defined(self, mention: Mention) -> Name:
        """Returns the text of a mention with what it means there, see `FormMeanings.at`."""
        name = self._name(mention)
        return name, self._meanings.at(name, mention.start)

    def _finish(self, mention: Mention, rule: TypeDecision) -> Mention:
        """Returns a mention with its final ends and probability."""
        spans, score = mention.spans, mention.score
        if len(spans) == 1 and self._ends(mention, rule) == "bare":
            spans = (bare_span(self._text, spans[0], kind=mention.type),)
        if rule.curve and score is not None:
            score = apply_curve(score, rule.curve)
        if (spans, score) == (mention.spans, mention.score):
            return mention
        return replace(mention, spans=spans, score=score)

    def _ends(self, mention: Mention, rule: TypeDecision) -> Ends:
        if rule.ends == rule.ends_alone:
            return rule.ends
        number = self._stretches.number_of(mention)
        return rule.ends_alone if self._stretches.are_alone[number] else rule.ends


def _places(mentions: Iterable[Mention]) -> Counter[tuple[str, tuple[Span, ...]]]:
    return Counter((mention.type, mention.spans) for mention in mentions)


def _count(mentions: Counter[Any]) -> str:
    return plural(mentions.total(), "mention")


def apply_curve(score: float, curve: LogisticCurve) -> float:
    """Returns the calibrated probability of a score by a curve, with six decimals as all scores."""
    # plain numbers: arrays of one would take most of the time of a decision
    odds = min(max(score, CLIP), 1.0 - CLIP)
    value = curve.slope * (math.log(odds) - math.log1p(-odds)) + curve.offset
    return round(1.0 / (1.0 + math.exp(-min(max(value, -_FAR), _FAR))), 6)
