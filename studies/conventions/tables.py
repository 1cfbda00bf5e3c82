"""Tables of the study that keeps guidelines apart."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from studies.common import result
from studies.tables.grids import MISSING, markdown, with_interval

_SHIPPED: Final = ("biomed-fast@1", "biomed@1", "biomed@2", "biomed-fast@2")
_LABELS: Final = {"model": "without both", "huner": "HUNER", "misc": "GNormPlus, tmChem, SR4GN"}
_LINES: Final = ("biored-test CellLine", "cellfinder CellLine")
_SENTENCES: Final = ("aimed Gene", "bioinfer Gene", "exptm Gene")
_THIRD: Final = {  # goals of `biomed@3`, with the rows that a goal is about
    "genes of CellFinder": (78.0, ("cellfinder Gene",)),
    "genes of DrugProt": (78.0, ("drugprot Gene",)),
    "genes of AIMed, BioInfer, Ex-PTM, mean": (78.2, _SENTENCES),
    "chemicals of DrugProt": (79.0, ("drugprot Chemical",)),
    "chemicals of NLM-Chem": (67.0, ("nlm-chem Chemical",)),
    "cancers of BioNLP13CG": (62.0, ("cg Disease",)),
    "cell types of CellFinder": (56.0, ("cellfinder CellType",)),
    "cell lines of CellFinder": (40.0, ("cellfinder CellLine",)),
}
_POOLED_LINES: Final = 40.0
_ODD: Final = ("cellfinder CellLine", "cg Disease")  # rows whose probabilities are known to be off
_ERRORS: Final = (10.0, 6.0)  # goals of the calibration error: all foreign rows, and without those
_CORPORA: Final = {"bionlp": "BioNLP13CG, 600 abstracts", "craft": "CRAFT, 97 papers"}


def arms() -> str:
    """F1 of each row with guidelines apart, and with shared names; raw text where it is at hand."""
    value = result("conventions-arms")
    if not value:
        return MISSING
    shared, apart = (value["systems"][name]["rows"] for name in ("shared", "apart"))
    body = [[name, *_arm(shared[name], apart[name])] for name in apart]
    body += [[name, "", _f1(_form(forms)["strict"]), ""] for name, forms in value["own"].items()]
    return markdown(["strict F1, test", "shared names", "apart", "apart less shared (95 %)"], body)


def _arm(shared: Mapping[str, Any], apart: Mapping[str, Any]) -> Iterator[str]:
    first, second = _form(shared), _form(apart)
    less = second["less_first"]
    yield _f1(first["strict"])
    yield _f1(second["strict"])
    yield with_interval(less)


def _form(forms: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = forms.get("raw") or forms["given"]
    return found


def _f1(strict: Mapping[str, Any]) -> str:
    return f"{100 * strict['micro']['f1']:.1f}"


def means() -> str:
    """Mean F1 of models with their decision over the rows that all of them have."""
    rows = {name: result(f"decision-{name}").get("rows", {}) for name in _SHIPPED}
    if not all(rows.values()):
        return MISSING
    shared = set.intersection(*map(set, rows.values()))
    body = [
        [f"`{name}`", f"{100 * statistics.mean(of[row]['after']['f1'] for row in shared):.1f}"]
        for name, of in rows.items()
    ]
    return markdown(
        ["model", f"strict F1 with its decision, mean over {len(shared)} rows of test"], body
    )


def third() -> str:
    """F1 and calibration error of the present models beside the goals of ``biomed@3``."""
    models = [result(f"decision-{name}").get("rows", {}) for name in ("biomed@3", "biomed-fast@2")]
    if not all(models):
        return MISSING
    body = []
    for what, (goal, names) in _THIRD.items():
        means = [100 * statistics.mean(of[name]["after"]["f1"] for name in names) for of in models]
        body.append([what, f"at least {goal:g}", *(_against(mean, goal) for mean in means)])
    lines = [100 * _pooled([of[row] for row in _LINES], "after") for of in models]
    cells = [_against(one, _POOLED_LINES) for one in lines]
    body.append(
        ["cell lines of BioRED and CellFinder, pooled", f"at least {_POOLED_LINES:g}", *cells]
    )
    for goal, left_out in zip(_ERRORS, ((), _ODD), strict=True):
        errors = [_error(of, left_out) for of in models]
        cells = [f"{one:.1f}" + ("" if one <= goal else " (missed)") for one in errors]
        what = "mean calibration error of the foreign rows" + (
            ", without cell lines of CellFinder and cancers" if left_out else ""
        )
        body.append([what, f"at most {goal:g}", *cells])
    return markdown(["strict F1 with the decision", "goal", "`biomed@3`", "`biomed-fast@2`"], body)


def _error(rows: Mapping[str, Any], left_out: Collection[str]) -> float:
    """Mean calibration error, in points, of rows whose texts taught nothing."""
    return 100 * statistics.mean(
        row["after"]["calibration_error"]
        for name, row in rows.items()
        if row["foreign"] and name not in left_out
    )


def _against(value: float, goal: float, *, sign: str = "") -> str:
    """A number, marked where it is below its goal."""
    return f"{value:{sign}.1f}" + ("" if value >= goal else " (missed)")


def _pooled(rows: Iterable[Mapping[str, Any]], when: str) -> float:
    """F1 over the mentions of several rows."""
    gold = predicted = right = 0.0
    for row in rows:
        gold += row["mentions"]
        predicted += row[when]["predicted"]
        right += row[when]["precision"] * row[when]["predicted"]
    return 2 * right / (gold + predicted)


def foreign() -> str:
    """F1 on CRAFT and BioNLP13CG of a model that learnt neither, beside the answers of other
    tools.
    """
    rows = result("conventions-foreign").get("rows", {})
    body = []
    for name, tools in rows.items():
        corpus, _, kind = name.partition(" ")
        cells = [
            f"{100 * one['f1']:.1f}, {100 * one['overlap_f1']:.1f}"
            for one in map(tools.__getitem__, _LABELS)
        ]
        body.append([kind, _CORPORA[corpus], f"{tools['model']['mentions']:,}", *cells])
    head = [
        "type",
        "texts",
        "mentions",
        *(f"{label}: strict, by overlap" for label in _LABELS.values()),
    ]
    return markdown(head, body) if body else MISSING
