"""Whether systems differ from the first by more than chance: paired intervals and tests, corrected for their number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from fascicle.evaluate.figures import no_interval
from fascicle.evaluate.intervals import bootstrap_difference
from fascicle.evaluate.significance import holm, randomisation
from fascicle.evaluate.systems import Scored

_NO_F1: Final = "the F1 of one of the two is undefined"


def paired_tests(systems: Sequence[Scored], *, resamples: int = 1000) -> list[dict[str, Any]]:
    """The strict micro F1 of each further system against that of the first, on the same documents.

    Args:
        systems: scored on the same documents, at least one.
        resamples: draws of the bootstrap, and shuffles of the randomisation test.

    Returns:
        For each system after the first a row, ready for JSON: ``"f1_interval"``, the paired bootstrap interval of the
        difference, and ``"p_value"`` of approximate randomisation, with ``"p_holm"``, Holm's correction for the number
        of systems. Where there is none, ``None``, and ``"undefined"`` says why.
    """
    first, *others = systems
    reasons = [_why_not(one, first) for one in others]
    tested = [one for one, reason in zip(others, reasons, strict=True) if not reason]
    p_values = [randomisation(one.drawn, first.drawn, shuffles=resamples) for one in tested]
    found = zip(p_values, holm(p_values), strict=True)
    rows: list[dict[str, Any]] = []
    for one, reason in zip(others, reasons, strict=True):
        if reason:
            names = ("f1_interval", "p_value", "p_holm")
            rows.append(dict.fromkeys(names) | {"undefined": dict.fromkeys(names, reason)})
            continue
        interval = bootstrap_difference(one.drawn, first.drawn, resamples=resamples).as_dict()
        interval.pop("p_value")  # that of the bootstrap; one test is enough for a reader
        p_value, p_holm = next(found)
        rows.append({"f1_interval": interval, "p_value": p_value, "p_holm": p_holm})
    return rows


def _why_not(one: Scored, first: Scored) -> str:
    why = no_interval(one.drawn) or no_interval(first.drawn)
    return _NO_F1 if why and len(first.drawn.by_document) > 1 else why
