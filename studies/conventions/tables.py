"""Tables of the study that keeps guidelines apart."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from typing import Any, Final

from studies.common import result
from studies.tables.grids import MISSING, markdown, with_interval

_SHIPPED: Final = ("biomed-fast@1", "biomed@1", "biomed@2", "biomed-fast@2")
_LABELS: Final = {"model": "without both", "huner": "HUNER", "misc": "GNormPlus, tmChem, SR4GN"}
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
