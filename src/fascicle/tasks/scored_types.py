"""What gold may say of a model: of some types, under the names that the model has for them, on texts unknown to it.

A corpus says nothing of types that nobody marked in it, so what a model of many types finds of them is not wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.names import near_hint
from fascicle.core.wording import counted
from fascicle.errors import InputError, UsageError
from fascicle.settings.recipes.ensemble import MEMBERS, is_ensemble
from fascicle.systems.predictions import Predictions
from fascicle.text.taught import TAUGHT, Cuts, sentence_hashes, unpacked

Types = Mapping[str, str] | Iterable[str]


@dataclass(frozen=True, kw_only=True)
class ScoredTypes:
    """Which types are scored.

    Attributes:
        names: type of the gold -> the name that it is scored under; empty for all types.
    """

    names: Mapping[str, str] = field(default_factory=dict)

    def of_gold(self, documents: Sequence[Document], *, path: str) -> Sequence[Document]:
        """The documents with the gold that is scored, under its new names; other layers stay.

        Raises:
            InputError: a type that no gold mention has.
        """
        if not self.names:
            return documents
        known = sorted({mention.type for document in documents for mention in document.layer(GOLD)})
        for name in self.names:
            if name not in known:
                raise InputError(
                    f"{path} holds no gold mention of the type {name!r}{near_hint(name, known)}; it has those of "
                    f"{', '.join(known) or 'no type'}"
                )
        return [self._of_document(document) for document in documents]

    def of_predictions(self, predictions: Predictions) -> Predictions:
        """The predictions of the types that are scored."""
        return replace(predictions, mentions=self.among(predictions.mentions)) if self.names else predictions

    def among(self, mentions: Mapping[str, Sequence[Mention]]) -> Mapping[str, Sequence[Mention]]:
        """Those mentions of each document that a system has of the types that are scored."""
        if not self.names:
            return mentions
        wanted = set(self.names.values())
        return {one: tuple(mention for mention in found if mention.type in wanted) for one, found in mentions.items()}

    def check(self, known: Sequence[str], *, system: str) -> None:
        """Refuses names that a system cannot have.

        Args:
            known: types of the system.
            system: its name.

        Raises:
            UsageError: a name that is not among them.
        """
        for name in self.names.values():
            if name not in known:
                raise UsageError(
                    f"{system} has no type {name!r}{near_hint(name, known)}; it has {', '.join(known)}; a type of the "
                    "gold that has another name there is given as GOLDNAME=NAME"
                )

    def _of_document(self, document: Document) -> Document:
        mentions = [
            msgspec.structs.replace(mention, type=self.names[mention.type]) if mention.source == GOLD else mention
            for mention in document.mentions
            if mention.source != GOLD or mention.type in self.names
        ]
        return msgspec.structs.replace(document, mentions=tuple(mentions))


def scored_types(given: Types) -> ScoredTypes:
    """The types that were asked for.

    Args:
        given: types of the gold, or type of the gold -> the name that the systems have for it; empty for all.

    Raises:
        UsageError: an empty name.
    """
    names = dict(given) if isinstance(given, Mapping) else {name: name for name in given}
    if not all(names) or not all(names.values()):
        raise UsageError("a type without a name was given; give names, or GOLDNAME=NAME")
    return ScoredTypes(names=names)


def taught_by(source: Path) -> frozenset[int] | None:
    """Hashes of what taught a model, or the members of an ensemble; ``None`` where nothing is listed."""
    if is_ensemble(source):
        members = [taught_by(place) for place in sorted((source / MEMBERS).iterdir())]
        known = [one for one in members if one is not None]
        return frozenset().union(*known) if known else None
    return unpacked((source / TAUGHT).read_bytes()) if (source / TAUGHT).is_file() else None


def check_untaught(
    documents: Sequence[Document], taught: frozenset[int] | None, *, path: str, model: str, cuts: Cuts
) -> None:
    """Refuses texts of which a sentence taught a model.

    Args:
        documents: of a file.
        taught: see `taught_by`.
        path: of the file.
        model: its name.
        cuts: cuts a text into sentences as the model does.

    Raises:
        InputError: see above.
    """
    known = [one.id for one in documents if taught and not taught.isdisjoint(sentence_hashes(one, cuts))]
    if known:
        raise InputError(
            f"{path} holds {counted(len(known), 'text')} that taught {model}, the first is {known[0]!r}; leave "
            f"{'it' if len(known) == 1 else 'them'} out, for nothing can be chosen on what was learnt",
            file=path,
        )
