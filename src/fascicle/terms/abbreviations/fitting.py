"""Selection of the rules for abbreviations on development documents; no rule at all is one of the choices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, get_args

import msgspec

from fascicle.core.document import Document, Mention, Patch
from fascicle.settings.decision import AbbreviationDecision, AbbreviationRules, Spread
from fascicle.terms.abbreviations.finder import find_abbreviations
from fascicle.terms.abbreviations.resolving import resolved

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
    known = [
        document
        if document.abbreviations is not None
        else msgspec.structs.replace(document, abbreviations=find_abbreviations(document))
        for document in documents
    ]
    tried = tuple(
        (rules, merit({one.id: resolved(one, Patch(add=found[one.id]), rules).add for one in known}))
        for rules in candidates()
    )
    best, _ = max(tried, key=lambda pair: pair[1])  # the first of several
    rules = AbbreviationDecision(spread=best.spread, drop=best.drop, one_type=best.one_type, chosen_on=chosen_on)
    return FittedRules(rules=rules, tried=tried, definitions=sum(len(one.abbreviations or ()) for one in known))
