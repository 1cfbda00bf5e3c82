"""The convention by which a model gives the ends of names, where a user chooses one."""

from __future__ import annotations

from fascicle.errors import UsageError
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.document import Ends
from fascicle.text.annotator import Annotator


def with_ends(predictor: Annotator, ends: Ends | None) -> Annotator:
    """The same predictor with other ends of names.

    Args:
        predictor: a model with a decision of documents, or an ensemble with one of its own.
        ends: for all types; ``None`` leaves the predictor as it is.

    Raises:
        UsageError: another predictor, which has no such choice.
    """
    if ends is None:
        return predictor
    from fascicle.runtime.ensemble import EnsemblePredictor  # late: most commands choose no ends

    if isinstance(predictor, ModelPredictor) and (rules := predictor.manifest.decision.document):
        return predictor.with_document(rules.with_ends(ends))
    if isinstance(predictor, EnsemblePredictor) and (rules := predictor.manifest.document):
        return predictor.with_document(rules.with_ends(ends))
    raise UsageError(
        f"{predictor.name} has no decision of documents, which alone has the choice {ends!r}; leave out the ends, or "
        "give a model that has one"
    )
