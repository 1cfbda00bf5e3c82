"""Ensemble of several models as one predictor: a rule combines their predictions, and a filter may
reject some.

A flat output is chosen by ``decoding.selection`` (``"optimal"``): of mentions that overlap those
stay whose support is greatest in sum. The support of a mention is its probability by the filter, or
without one the sum of the scores of the members that predicted it over the number of members; a
score that a member does not give counts as 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from msgspec.structs import replace

from fascicle.core.arguments import validate_documents
from fascicle.core.arrays import Floats, int_array
from fascicle.core.document import Document, Event, Mention, Patch, in_order
from fascicle.core.session import check_device
from fascicle.core.tags import SCHEMES, TagScheme
from fascicle.core.wording import plural
from fascicle.runtime.combination.align import System, Votes, align
from fascicle.runtime.combination.rules import Rule, RuleRequest, combine
from fascicle.runtime.decoding.selection import select
from fascicle.runtime.filter import MentionFilter
from fascicle.runtime.ruled import RuledPredictor, check_pack
from fascicle.settings.folders.manifest import Manifest, read_manifest
from fascicle.settings.folders.vocabularies import is_pack
from fascicle.settings.recipes.ensemble import (
    FILTER_FOLDER,
    MEMBERS,
    EnsembleManifest,
    is_ensemble,
    read_ensemble,
)
from fascicle.settings.recipes.filter import FilterManifest, read_filter_manifest
from fascicle.text.annotator import Annotator, Tagged, TagSpace, bio_to_io

_STEP: Final = "ensemble"
_DIGITS = 6
_Support = dict[tuple[str, tuple[tuple[int, int], ...]], float]


def _rule_of(manifest: EnsembleManifest) -> Rule:
    """Returns the rule that an ensemble was made with.

    Raises:
        UsageError: numbers that are not allowed, or for another number of members.
    """
    request = RuleRequest(
        name=manifest.rule,
        k=manifest.k or None,
        weights=manifest.weights or None,
        threshold=manifest.share if manifest.weights else None,
        filter=FILTER_FOLDER if manifest.rule == "meta" else None,
    )
    rule = request.rule()
    rule.check(len(manifest.members))
    return rule


class EnsemblePredictor(RuledPredictor):
    """Members one after the other, then the rule; ``predict`` is pure."""

    def __init__(
        self,
        manifest: EnsembleManifest,
        members: Sequence[Callable[[], Annotator]],
        *,
        judge: Callable[[], MentionFilter] | None = None,
    ) -> None:
        """Puts the parts together.

        Args:
            manifest: of the ensemble.
            members: open a member each; what they give is forgotten once it has read the documents
                of a call.
            judge: opens the filter, for the rule ``"meta"``.

        Raises:
            UsageError: see ``_rule_of``.
        """
        self.manifest: EnsembleManifest = manifest
        self._members = members
        self._judge = judge
        self._rule = _rule_of(manifest)
        if manifest.document:
            check_pack(manifest.document, model=manifest.name)

    @property
    def kind(self) -> str:
        """The rule, and the members that it is applied to."""
        return f"{self.manifest.rule} of {', '.join(self.manifest.members)}"

    @property
    def rules(self) -> EnsembleManifest:
        """The manifest of the ensemble."""
        return self.manifest

    def ruled(self, **changes: Any) -> Self:
        """See `RuledPredictor`."""
        changed = copy(self)
        changed.manifest = replace(self.manifest, **changes)
        return changed

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events for each document.

        Args:
            documents: sentences and words are taken from them where given.

        Returns:
            One patch per document, in order; the documents stay as they are.
        """
        documents = list(validate_documents(documents))
        if not documents:
            return []
        # Only one member is in memory at a time.
        return self._combine(
            documents, [open_member().predict(documents) for open_member in self._members]
        )

    @property
    def tag_space(self) -> TagSpace:
        """The mean of its members, in IO if one of them speaks in IO; with a filter the scores
        of its mentions.
        """
        if self._judge is not None:
            return TagSpace()
        return TagSpace(
            scheme=_scheme(open_member().tag_space for open_member in self._members).name,
            meaning="mean",
        )

    def tag(self, documents: Sequence[Document]) -> list[Tagged]:
        """Predicts, and averages the members' tag probabilities of each word, with the weights of
        the rule if any.

        Members that do not look for a type have no part in its mean. A mention that a member gives
        without a score has the probability 1, so that the mean of members without scores is the
        share of their votes. With a filter, what is said is the scores of the answer.

        Args:
            documents: sentences and words are taken from them where given.
        """
        documents = list(validate_documents(documents))
        if self._judge is not None or not documents:
            return super().tag(documents)
        tags_of = [_MemberTags.of(open_member(), documents) for open_member in self._members]
        weights = [float(Fraction(weight)) for weight in self.manifest.weights] or [1.0] * len(
            tags_of
        )
        patches = self._combine(
            documents, [[weight.patch for weight in member.tagged] for member in tags_of]
        )
        return [
            Tagged(patch=patch, words=tags_of[0].tagged[at].words, probabilities=table)
            for at, (patch, table) in enumerate(
                zip(patches, _means(tags_of, weights, types=self.types), strict=True)
            )
        ]

    def _combine(
        self, documents: Sequence[Document], answers: Sequence[Sequence[Patch]]
    ) -> list[Patch]:
        """Combines the answers of all members for each document by the rule."""
        names = [str(at) for at in range(len(documents))]
        votes = align([_system(at, patches) for at, patches in enumerate(answers)], least=1)
        by_rule = combine(votes, self._rule)
        patches = [
            Patch(add=self._as_own(by_rule[name]), events=_distinct_events(of_document))
            for name, of_document in zip(names, zip(*answers, strict=True), strict=True)
        ]
        supports = _support(votes, names)
        if self._judge is not None:
            patches = self._filter(self._judge(), documents, patches)
            supports = [_scores(patch) for patch in patches]
        patches = [replace(patch, add=in_order(patch.add)) for patch in patches]
        if self.manifest.output == "flat":
            patches = list(map(_flat, patches, supports))
        return self._by_rules(documents, patches)

    def _filter(
        self, judge: MentionFilter, documents: Sequence[Document], patches: Sequence[Patch]
    ) -> list[Patch]:
        """Returns the mentions that the learned filter accepts, with its events too."""
        accepted = judge.judge(documents, [patch.add for patch in patches])
        return [
            Patch(add=self._as_own(after.add), events=before.events + after.events)
            for before, after in zip(patches, accepted, strict=True)
        ]

    def _as_own(self, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
        return tuple(replace(mention, source=self.name) for mention in mentions)


def _system(number: int, patches: Sequence[Patch]) -> System:
    mentions = {str(at): patch.add for at, patch in enumerate(patches)}
    return System(name=str(number), mentions=mentions)


def _distinct_events(patches: Iterable[Patch]) -> tuple[Event, ...]:
    return tuple(dict.fromkeys(event for patch in patches for event in patch.events))


def _scores(patch: Patch) -> _Support:
    return {(mention.type, mention.spans): mention.score or 0.0 for mention in patch.add}


@dataclass(frozen=True, kw_only=True)
class _MemberTags:
    """Tags of words that one member predicts."""

    types: tuple[str, ...]
    space: TagSpace
    tagged: list[Tagged]

    @classmethod
    def of(cls, member: Annotator, documents: Sequence[Document]) -> _MemberTags:
        """Tags documents with a member."""
        return cls(types=member.types, space=member.tag_space, tagged=member.tag(documents))


def _scheme(spaces: Iterable[TagSpace]) -> TagScheme:
    """Returns the tagging scheme that all members can use."""
    return SCHEMES["IO" if any(space.scheme == "IO" for space in spaces) else "BIO"]


def _means(
    members: Sequence[_MemberTags], weights: Sequence[float], *, types: Sequence[str]
) -> list[Floats]:
    """The weighted mean of the tables of each document, column by column over the members that
    have the type.
    """
    scheme = _scheme(member.space for member in members)
    total = np.zeros(len(types) * scheme.width)
    sums = [np.zeros((len(tagged.words), len(total))) for tagged in members[0].tagged]
    for member, weight in zip(members, weights, strict=True):
        columns = [
            scheme.width * types.index(kind) + at
            for kind in member.types
            for at in range(scheme.width)
        ]
        total[columns] += weight
        for table, tagged in zip(sums, member.tagged, strict=True):
            own = (
                tagged.probabilities
                if member.space.scheme == scheme.name
                else bio_to_io(tagged.probabilities)
            )
            table[:, columns] += weight * own
    return [table / np.where(total > 0, total, 1.0) for table in sums]


def _support(votes: Votes, names: Sequence[str]) -> list[_Support]:
    """Returns the mean score over all members of every mention that any member predicted, by
    document.
    """
    supports: dict[str, _Support] = {name: {} for name in names}
    for row, document in enumerate(votes.document.tolist()):
        entries = votes.entries[votes.bounds[row] : votes.bounds[row + 1]]
        scores = [1.0 if entry.score is None else entry.score for entry in entries]
        supports[votes.documents[document]][entries[0].type, entries[0].spans] = sum(scores) / len(
            votes.systems
        )
    return [supports[name] for name in names]


def _flat(patch: Patch, support: _Support) -> Patch:
    """Selects mentions without overlaps; a discontinuous mention occupies all from its start to
    its end.
    """
    if not patch.add:
        return patch
    kinds = {name: at for at, name in enumerate(sorted({mention.type for mention in patch.add}))}
    spans = int_array([(mention.start, mention.end, kinds[mention.type]) for mention in patch.add])
    scores = np.array([support[mention.type, mention.spans] for mention in patch.add]).round(
        _DIGITS
    )
    selection = {int(at) for at in select(spans, scores, decoding="optimal")}
    left_out = len(patch.add) - len(selection)
    if not left_out:
        return patch
    message = (
        f"left out of the flat output: {plural(left_out, 'mention')}, for overlapping "
        "others with more support"
    )
    event = Event(step=_STEP, kind="note", code="overlap", message=message)
    add = tuple(mention for at, mention in enumerate(patch.add) if at in selection)
    return Patch(add=add, events=(*patch.events, event))


def check_members(folder: Path, device: str | None) -> None:
    """Raises an error for a device that a part of an ensemble cannot use, before any part is
    opened.
    """
    manifest = read_ensemble(folder)
    places = [folder / MEMBERS / name for name in manifest.members]
    for place in filter(is_ensemble, places):
        check_members(place, device)
    models = [place for place in places if not is_ensemble(place) and not is_pack(place)]
    parts: list[Manifest | FilterManifest] = [read_manifest(place) for place in models]
    if manifest.rule == "meta":
        parts.append(read_filter_manifest(folder / FILTER_FOLDER))
    for part in parts:
        if part.runtime == "onnx":
            check_device(device, of=f"{folder} has the part {part.name}, which")
