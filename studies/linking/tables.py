"""How right links are, in tables, from ``studies/results/linking*.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from fascicle.evaluation.link_scores import ALONE
from fascicle.training.experiments.results import read_result
from studies.tables.grids import NOT_RUN, markdown

NAME: Final = "linking"
ABLATION: Final = f"{NAME}-ablation"
RAW: Final = f"{NAME}-raw"
DENSE: Final = f"{NAME}-dense"
_NONE: Final = "–"
_FIGURES: Final = (
    "recall@1",
    "recall@5",
    "recall@20",
    "ceiling",
    "concept_f1",
    "nil_precision",
    "calibration_error",
)

_LATE: Final = ("biored", "craft", "dimb-re")  # looked at after the others


def figures(results: Path) -> str:
    """The fitted linker on gold mentions: every corpus, and each of its types where there are
    several.
    """
    body = []
    for name, told in _corpora(results):
        system, gold = told["links"]["systems"][0], told["links"]["gold"]
        row = system["figures"]
        first = f"**{_percent(row['recall@1'])}** ({_interval(row['recall@1'])})"
        body.append(
            [
                name,
                "all",
                f"{gold['mentions']:,}",
                first,
                *(_percent(row[one]) for one in _FIGURES[1:]),
            ]
        )
        several = gold["types"] if len(gold["types"]) > 1 else {}
        for kind, count in several.items():
            cells = (_percent(system["types"][kind].get(one)) for one in _FIGURES)
            body.append(["", kind, f"{count:,}", *cells])
    head = [
        "corpus",
        "type",
        "mentions",
        *_FIGURES[:4],
        "concept F1",
        "NIL precision",
        "calibration error",
    ]
    return markdown(head, body) if body else NOT_RUN


def systems(results: Path) -> str:
    """Recall@1 and @20, and concepts of documents, of the linker, of the stated order and of
    rivals, paired.
    """
    body = []
    for name, told in _corpora(results):
        first, *others = told["links"]["systems"]
        body.append([name, first["name"], *_three(first), "", ""])
        for one in others:
            body.append(["", one["name"], *_three(one), *_paired(told["links"], one["name"])])
    head = [
        "corpus",
        "linker",
        "recall@1",
        "recall@20",
        "concept F1",
        "less ours, recall@1",
        "corrected p",
    ]
    return markdown(head, body) if body else NOT_RUN


def tiers(results: Path) -> str:
    """Precision and coverage of tiers; of exact names also where no other candidate has the
    tier.
    """
    names = ("exact", f"exact{ALONE}", "folded", "canonical", "near", "remembered")
    body = []
    for name, told in _corpora(results):
        found = told["links"]["systems"][0]["tiers"]
        cells = []
        for tier in names:
            row = found.get(tier)
            cells.append(
                f"{_share(row['precision'])} of {_share(row['coverage'])}" if row else _NONE
            )
        body.append([name, *cells])
    return markdown(["corpus", *names], body) if body else NOT_RUN


def unseen(results: Path) -> str:
    """Recall@1 by what the texts of the fit have."""
    names = ("seen_surfaces", "unseen_surfaces", "seen_concepts", "unseen_concepts")
    body = []
    for name, told in _corpora(results):
        found = told["links"]["systems"][0]["subsets"]
        rows = [found[one]["recall@1"] for one in names]
        body.append([name, *(f"{_percent(row)} of {row['whole']:,}" for row in rows)])
    head = ["corpus", "words seen", "words not seen", "concepts seen", "concepts not seen"]
    return markdown(head, body) if body else NOT_RUN


def errors(results: Path) -> str:
    """How often answers are wrong, by why."""
    found = [(name, told["links"]["systems"][0]["errors"]) for name, told in _corpora(results)]
    kinds = list(dict.fromkeys(kind for _, own in found for kind in own))
    body = [
        [name, *(f"{own.get(kind, {'wrong': 0})['wrong']:,}" for kind in kinds)]
        for name, own in found
    ]
    return markdown(["corpus", *kinds], body) if body else NOT_RUN


def ablation(results: Path) -> str:
    """What recall@1 loses without each part, on the parts to choose on."""
    told = {name: row for name, row in read_result(results, ABLATION).items() if name != "run"}
    if not told:
        return NOT_RUN
    body = [
        [
            "recall@1 with all",
            *(_percent({"value": row["all"]["estimate"]}) for row in told.values()),
        ]
    ]
    for part in next(iter(told.values()))["without"]:
        body.append([f"without {part}", *(_change(row["without"][part]) for row in told.values())])
    return markdown(["", *told], body)


def raw(results: Path) -> str:
    """Concepts of documents from raw text, with strong mentions and with all, and with those of
    gold.
    """
    body = []
    for name, told in read_result(results, RAW).items():
        first, everything, second = (one["figures"] for one in told["links"]["systems"])
        found = told["found"]
        f1 = 2 * found["right"] / max(found["gold"] + found["found"], 1)
        rates = f"{_percent(first['concept_precision'])} / {_percent(first['concept_recall'])}"
        sure = f"**{_percent(first['concept_f1'])}** ({_interval(first['concept_f1'])})"
        others = (_percent(everything["concept_f1"]), _percent(second["concept_f1"]))
        body.append(
            [
                name,
                f"`{told['recogniser']}`",
                _share(f1),
                f"{told['least']:.2f}",
                rates,
                sure,
                *others,
            ]
        )
    head = [
        "corpus",
        "recogniser",
        "F1 of mentions",
        "least",
        "concept P / R",
        "**concept F1**",
        "with all",
        "with gold",
    ]
    return markdown(head, body) if body else NOT_RUN


def dense(results: Path) -> str:
    """What vectors of names add, by the least similarity, on dev and, of the chosen one, on test
    parts.
    """
    told = read_result(results, DENSE)
    body = []
    for part, title in (
        ("dev", "bc5cdr, dev"),
        ("bc5cdr", "bc5cdr, test"),
        ("nlm-chem", "nlm-chem, test"),
    ):
        for system in told.get(part, {}).get("systems", ()):
            row = system["figures"]
            cells = [
                _percent(row[one])
                for one in ("recall@1", "recall@20", "precision", "f1", "concept_f1")
            ]
            changes = [
                _paired(told[part], system["name"], figure)[0]
                for figure in ("recall@1", "f1", "concept_f1")
            ]
            body.append([title, system["name"], *cells, *changes])
            title = ""
    head = ["part", "least", "recall@1", "recall@20", "precision", "F1", "concept F1"]
    changed = [f"{figure}, change" for figure in ("recall@1", "F1", "concept F1")]
    return markdown([*head, *changed], body) if body else NOT_RUN


def _corpora(results: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found = read_result(results, NAME)
    order: Sequence[str] = sorted(found, key=lambda name: (name in _LATE, name))
    return ((name, found[name]) for name in order)


def _three(system: Mapping[str, Any]) -> list[str]:
    row = system["figures"]
    return [
        f"{_percent(row['recall@1'])} ({_interval(row['recall@1'])})",
        _percent(row["recall@20"]),
        _percent(row["concept_f1"]),
    ]


def _paired(report: Mapping[str, Any], name: str, figure: str = "recall@1") -> tuple[str, str]:
    for row in report["differences"]:
        if row["system"] == name and row["figure"] == figure:
            return _change(row["difference"], digits=1), f"{row['difference']['p_holm']:.3f}"
    return _NONE, _NONE


def _change(found: Mapping[str, float], *, digits: int = 1) -> str:
    points = [f"{100 * found[end]:+.{digits}f}" for end in ("estimate", "low", "high")]
    return f"{points[0]} ({points[1]} to {points[2]})"


def _percent(row: Mapping[str, Any] | None) -> str:
    return _NONE if row is None or row["value"] is None else _share(row["value"])


def _share(value: float) -> str:
    return f"{100 * value:.1f}"


def _interval(row: Mapping[str, Any]) -> str:
    return f"{_share(row['interval']['low'])} to {_share(row['interval']['high'])}"
