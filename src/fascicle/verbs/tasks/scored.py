"""Names of the types that are scored, in the gold, in systems and in training texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.wording import near_hint
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.scoring.facts import gold_facts
from fascicle.evaluation.systems import several
from fascicle.evaluation.systems.predictions import Predictions
from fascicle.runtime.combination.align import System
from fascicle.runtime.combination.type_names import TypeMap, rename_system

THE_GOLD: Final = "the gold"  # the system of this name in a map
Types = str | Mapping[str, str] | Iterable[str]


@dataclass(frozen=True, kw_only=True)
class ScoredTypes:
    """Types that are scored. Gold says nothing of types that nobody marked in it, so mentions of
    them are not wrong.

    Attributes:
        names: type of the gold -> its name in the scores; empty for all types.
    """

    names: Mapping[str, str] = field(default_factory=dict)

    def of_gold(self, documents: Sequence[Document], *, path: str) -> Sequence[Document]:
        """Returns the documents with the scored gold, under its new names; other layers stay.

        Raises:
            InputError: a type that no gold mention has.
        """
        if not self.names:
            return documents
        in_gold = {mention.type for document in documents for mention in document.layer(GOLD)}
        self._check_gold(in_gold, path)
        return several.rename_gold(documents, {name: self.names.get(name, "") for name in in_gold})

    def of_systems(self, gold: System, systems: Sequence[System], *, path: str) -> list[System]:
        """Returns gold and systems with the scored types alone.

        Raises:
            InputError: a type that no gold mention has.
        """
        if not self.names:
            return [gold, *systems]
        self._check_gold(gold.types(), path)
        new_names = {name: self.names.get(name, "") for name in gold.types()}
        return [
            rename_system(gold, new_names),
            *(replace(system, mentions=self.among(system.mentions)) for system in systems),
        ]

    def _check_gold(self, in_gold: Iterable[str], path: str) -> None:
        names = sorted(in_gold)
        for name in self.names:
            if name not in names:
                raise InputError(
                    f"{path} holds no gold mention of the type {name!r}{near_hint(name, names)}; "
                    f"it has those of {', '.join(names) or 'no type'}"
                )

    def of_predictions(self, predictions: Predictions) -> Predictions:
        """Returns the predictions of the scored types."""
        return (
            replace(predictions, mentions=self.among(predictions.mentions))
            if self.names
            else predictions
        )

    def among(self, mentions: Mapping[str, Sequence[Mention]]) -> Mapping[str, Sequence[Mention]]:
        """Returns the mentions of each document that are of the scored types."""
        if not self.names:
            return mentions
        names_wanted = set(self.names.values())
        return {
            identifier: tuple(mention for mention in predicted if mention.type in names_wanted)
            for identifier, predicted in mentions.items()
        }

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
                    f"{system} has no type {name!r}{near_hint(name, known)}; it has "
                    f"{', '.join(known)}; a type of the "
                    "gold that has another name there is given as GOLDNAME=NAME"
                )


def scored_types(given: Types) -> ScoredTypes:
    """Returns the requested types.

    Args:
        given: one or several types of the gold, or type of the gold -> its name in the systems; an
            empty list for all.

    Raises:
        UsageError: an empty name.
    """
    several = [given] if isinstance(given, str) else given
    names = dict(several) if isinstance(several, Mapping) else {name: name for name in several}
    if not all(names) or not all(names.values()):
        raise UsageError("a type without a name was given; give names, or GOLDNAME=NAME")
    return ScoredTypes(names=names)


@dataclass(frozen=True, kw_only=True)
class ScoredNames:
    """Names of what is scored.

    Attributes:
        map: other names for types.
        types: those that are scored.
        facts: score facts of mentions in place of types.
    """

    map: TypeMap
    types: ScoredTypes
    facts: bool

    def of_training(self, documents: Iterable[Document]) -> Iterable[Document]:
        """Returns training documents, annotated as the gold is, under the names of the scores."""
        mapped = several.rename_gold(documents, self.map.of(THE_GOLD))
        names = self.types.names
        renamed = several.rename_gold(mapped, {**dict.fromkeys(names.values(), ""), **names})
        return gold_facts(renamed) if self.facts else renamed

    def of_model(self, types: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
        """Returns the types of a model under the names of the scores, each once.

        Args:
            types: as the model names them.
            names: by which the map may know the model.
        """
        new_names = dict(self.map.everywhere)
        for name in names:
            new_names |= self.map.systems.get(name, {})
        return tuple(dict.fromkeys(filter(None, (new_names.get(kind, kind) for kind in types))))
