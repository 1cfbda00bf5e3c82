"""Forms of the correction of probabilities of found mentions, on the parts to choose on; see
``plan.md``.

python -m studies.concepts.corrections FOLDER --judge MODEL

FOLDER has the mentions of ``mentions.py`` that MODEL finds in its part ``aside``. Links are ranked
by rankers that did not see their document; each form is fitted to four fifths of the found
mentions, in the order of documents, and judged on the other. Writes
``results/concepts-corrections.json``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from fascicle.core.arrays import Bools, Floats
from fascicle.evaluation.calibration.fitting import fit_isotonic
from fascicle.evaluation.calibration.reliability import JudgedMentions
from fascicle.linking.calibration import fit_calibration
from fascicle.linking.fitting import gather_training_data
from fascicle.linking.logit import TrainingTable, best_rows, cross_validate, select_units
from fascicle.linking.weights import fit
from fascicle.runtime.decoding.selection import interpolate_scores
from fascicle.terms.pack.pack import Pack
from studies.common import write_result
from studies.concepts.worth import Said, stated
from studies.ship_linker import PACK, SETTINGS, fitting_texts

FOLDS: Final = 5
Apply = Callable[[Floats, Floats], Floats]  # probabilities of links, and scores of mentions
Form = Callable[[Floats, Bools, Floats], Apply]


def _none(scores: Floats, right: Bools, mentions: Floats) -> Apply:
    return lambda found, _: found


def _two(scores: Floats, right: Bools, mentions: Floats) -> Apply:
    fitted = fit_calibration(scores, right)
    return lambda found, _: fitted(found)


def _three(scores: Floats, right: Bools, mentions: Floats) -> Apply:
    fitted = fit_calibration(scores, right, mentions)
    return lambda found, given: fitted(found, given)


def _isotonic(scores: Floats, right: Bools, mentions: Floats) -> Apply:
    linear = fit_calibration(scores, right, mentions)
    data = JudgedMentions(
        scores=linear(scores, mentions), right=right, types=("",) * len(scores), gold={}
    )
    curve = fit_isotonic(data)
    return lambda found, given: interpolate_scores(linear(found, given), curve.scores, curve.values)


FORMS: Final[Mapping[str, Form]] = {
    "none": _none,
    "two numbers": _two,
    "with the score of the mention": _three,
    "isotonic after it": _isotonic,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Measures and stores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--judge", required=True)
    args = parser.parse_args(argv)
    pack = Pack.open(PACK)
    given, judged = fitting_texts(pack, args.folder, args.judge)
    taught = gather_training_data(pack, None, given, settings=SETTINGS, judged=judged)
    rows = {}
    for kind, found in taught.recognised.items():
        scores, right, mentions = _ranked(taught.tables[kind], found)
        for form, told in _judged(scores, right, mentions):
            rows[f"{kind}: {form}"] = one = stated(
                [Said(0, "", *pair) for pair in zip(told, right, strict=True)]
            )
            print(kind, form, one)
    write_result("concepts-corrections", {"pack": pack.full_name, "rows": rows})
    return 0


def _ranked(table: TrainingTable, found: TrainingTable) -> tuple[Floats, Bools, Floats]:
    """The first candidate of each found mention: its probability, whether it is right, and the
    score of the mention.
    """
    by_fold = [
        select_units(table, table.documents % SETTINGS.folds != fold)
        for fold in range(SETTINGS.folds)
    ]
    folds = [fit(one.choices, one.right, penalty=SETTINGS.penalty) for one in by_fold]
    scores = cross_validate(found, folds, fit(table.choices, table.right, penalty=SETTINGS.penalty))
    best = best_rows(found.choices, scores)
    return scores[best], found.right[best], found.scores[found.choices.owners[best]]


def _judged(scores: Floats, right: Bools, mentions: Floats) -> Iterator[tuple[str, Floats]]:
    fold_of = np.arange(len(scores)) * FOLDS // max(1, len(scores))
    for name, form in FORMS.items():
        told = np.zeros(len(scores))
        for fold in range(FOLDS):
            own, others = fold_of == fold, fold_of != fold
            told[own] = form(scores[others], right[others], mentions[others])(
                scores[own], mentions[own]
            )
        yield name, told


if __name__ == "__main__":
    raise SystemExit(main())
