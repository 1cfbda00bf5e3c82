"""Tables of the study that keeps guidelines apart."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from studies.common import result
from studies.tables.grids import MISSING, markdown, with_interval

_SHIPPED: Final = ("biomed-fast@1", "biomed@1", "biomed@2", "biomed-fast@2")
_LABELS: Final = {"model": "without both", "huner": "HUNER", "misc": "GNormPlus, tmChem, SR4GN"}
_GOALS: Final = {  # row of the decision: row of the seeds, if they have it, and the goal
    "biored-test Gene": ("biored GeneOrGeneProduct", 86.0),
    "nlm-gene-test Gene": ("nlm-gene Gene", 86.0),
    "gnormplus-test Gene": ("gnormplus Gene", 79.0),
    "drugprot Gene": ("drugprot Gene", 74.0),
    "cellfinder Gene": ("cellfinder GeneProtein", 69.2),
    "bc2gm-test Gene.bc2gm": ("", 76.0),
    "ncbi-test Disease": ("ncbi-disease Disease", 85.5),
    "bc5cdr-test Disease": ("bc5cdr Disease", 84.0),
    "biored-test Disease": ("biored DiseaseOrPhenotypicFeature", 83.0),
    "bc5cdr-test Chemical": ("bc5cdr Chemical", 91.5),
    "drugprot Chemical": ("drugprot Chemical", 76.0),
    "nlm-chem Chemical": ("nlm-chem Chemical", 67.0),
    "linnaeus-test Species": ("linnaeus Species", 82.0),
    "cellfinder Species": ("cellfinder Species", 80.0),
    "biored-test Species": ("biored OrganismTaxon", 94.0),
    "bioid-test CellLine": ("bioid CellLine", 68.0),
    "jnlpba-test CellLine.jnlpba": ("", 58.0),
    "jnlpba-test CellType": ("jnlpba cell_type", 70.0),
    "cellfinder CellType": ("cellfinder CellType", 56.0),
}
_LINES: Final = ("biored-test CellLine", "cellfinder CellLine")
_MORE_LINES: Final = 30.0  # points of the pooled rows, over the model before
_SENTENCES: Final = ("aimed Gene", "bioinfer Gene", "exptm Gene")
_MORE_SENTENCES: Final = 5.0  # points of their mean, over the model before
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


def goals() -> str:
    """F1 of what ships beside the goals of the plan, and gains over the model before, which had
    no decision.
    """
    rows = {
        name: result(f"decision-{name}").get("rows", {})
        for name in ("biomed@1", "biomed@2", "biomed-fast@2")
    }
    seeds = result("six-seeds-decided").get("systems", {}).get("biomed@2", {})
    if not all(rows.values()) or not seeds:
        return MISSING
    body = []
    for name, (of_seeds, goal) in _GOALS.items():
        fast = 100 * rows["biomed-fast@2"][name]["after"]["f1"]
        own = (
            [100 * _form(one["rows"][of_seeds])["strict"] for one in seeds.values()]
            if of_seeds
            else []
        )
        first = statistics.mean(own) if own else 100 * rows["biomed@2"][name]["after"]["f1"]
        body.append([_said(name), f"{goal:g}", *(_against(value, goal) for value in (first, fast))])
    kept = {
        name: (rows["biomed@1"], "before") if name == "biomed@1" else (of, "after")
        for name, of in rows.items()
    }
    lines = {
        name: 100 * _pooled([of[row] for row in _LINES], when) for name, (of, when) in kept.items()
    }
    means = {
        name: 100 * statistics.mean(of[row][when]["f1"] for row in _SENTENCES)
        for name, (of, when) in kept.items()
    }
    for what, found, more in (
        ("cell lines of BioRED and CellFinder, pooled", lines, _MORE_LINES),
        ("genes of AIMed, BioInfer, Ex-PTM, mean", means, _MORE_SENTENCES),
    ):
        gains = [found[name] - found["biomed@1"] for name in ("biomed@2", "biomed-fast@2")]
        body.append([what, f"{more:+g}", *(_against(gain, more, sign="+") for gain in gains)])
    body += _costs()
    return markdown(
        ["strict F1 with the decision, test", "goal", "`biomed@2`", "`biomed-fast@2`"], body
    )


def _costs() -> list[list[str]]:
    """Rows of speed beside the model before, at the batch size where it loses most, and of size
    on disk.
    """
    models = result("six-dial").get("models", {})
    if not {"biomed@1", "biomed@2", "biomed-fast@2"} <= models.keys():
        return []
    before, *shipped = (models[name] for name in ("biomed@1", "biomed@2", "biomed-fast@2"))
    rates = [
        min(
            100 * (one["sentences_per_second"][size] / rate - 1)
            for size, rate in before["sentences_per_second"].items()
        )
        for one in shipped
    ]
    sizes = [one["megabytes"] for one in shipped]
    return [
        [
            "sentences a second less those of `biomed@1`, in per cent",
            "-5",
            *(_against(one, -5, sign="+") for one in rates),
        ],
        [
            "MB, at most",
            "18",
            *(f"{one:.1f}" + ("" if one <= 18 else " (missed)") for one in sizes),
        ],
    ]


def _said(name: str) -> str:
    corpus, _, kind = name.partition(" ")
    return f"{corpus.removesuffix('-test')}, {kind}"


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
