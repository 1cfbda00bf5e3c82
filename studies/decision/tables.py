"""Tables of the decision of documents: texts that taught nothing first, then test parts of
corpora that taught.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from studies.common import MODELS, result
from studies.tables.grids import MISSING, markdown, with_interval

Value = Mapping[str, Any]
_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cellfinder": "CellFinder, full papers",
        "drugprot": "DrugProt, abstracts",
        "nlm-chem": "NLM-Chem, passages of papers",
        "aimed": "AIMed, sentences",
        "bioinfer": "BioInfer, sentences",
        "exptm": "Ex-PTM, sentences",
        "cg": "cancers of BioNLP13CG, abstracts",
        "biored-test": "BioRED",
        "nlm-gene-test": "NLM-Gene",
        "gnormplus-test": "GNormPlus",
        "ncbi-test": "NCBI disease",
        "bc5cdr-test": "BC5CDR",
        "bc2gm-test": "BC2GM, sentences",
        "jnlpba-test": "JNLPBA",
        "linnaeus-test": "LINNAEUS, sentences",
        "bioid-test": "BioID",
    }
)
HEAD: Final = (
    "type",
    "texts",
    "mentions",
    "F1 before",
    "F1",
    "gain (95 %)",
    "F1 by overlap",
    "ECE before",
    "ECE",
)


def foreign(name: str) -> str:
    """Texts that taught nothing."""
    return _table(name, foreign=True)


def corpora(name: str) -> str:
    """Test parts of corpora that taught."""
    return _table(name, foreign=False)


def largest() -> str:
    """Of each type, the texts with most mentions that taught nothing: the shipped models side by
    side.
    """
    models = [(name.partition("@")[0], dict(_rows(name))) for name in MODELS]
    if not all(rows for _, rows in models):
        return MISSING
    places: dict[str, str] = {}
    first = models[0][1]
    for key, row in sorted(first.items(), key=lambda pair: pair[1]["mentions"]):
        if row["foreign"]:
            places[row["type"]] = key
    head = (
        "type",
        "texts",
        "mentions",
        *(f"`{name}`{what}" for name, _ in models for what in ("", ", by overlap")),
    )
    sides = ("f1", "overlap_f1")
    return markdown(
        head,
        [
            [
                *_what(key, first[key]),
                f"{first[key]['mentions']:,}",
                *(f"{100 * rows[key]['after'][side]:.1f}" for _, rows in models for side in sides),
            ]
            for key in (places[kind] for kind in sorted(places))
        ],
    )


def ends(name: str) -> str:
    """Strict F1 with names as corpora have them, and without their affixes, where the two
    differ.
    """
    rows = [
        [*_what(key, one), *(f"{100 * one['ends'][kind]:.1f}" for kind in ("corpus", "bare"))]
        for key, one in _rows(name)
        if one["ends"]["bare"] != one["ends"]["corpus"]
    ]
    return (
        markdown(("type", "texts", "`--ends corpus`", "`--ends bare`"), rows) if rows else MISSING
    )


def names() -> str:
    """Names given alone and in rows of a table."""
    ways = {"alone": "alone", "in_rows": "in rows of four cells"}
    kinds = ("right", "other_type", "nothing", "heads_empty")
    rows = [
        [
            model,
            f"{ways[way]}, {word}",
            *(f"{100 * shares[f'{key}_{way}'][kind]:.1f}" for kind in kinds),
        ]
        for model, shares in result("decision-names").get("models", {}).items()
        for way in ways
        for key, word in (("before", "before"), ("after", "with the decision"))
    ]
    head = (
        "model",
        "given",
        "right type and ends",
        "another type",
        "nothing",
        "heads of columns: nothing",
    )
    return markdown(head, rows) if rows else MISSING


def _rows(name: str) -> list[tuple[str, Value]]:
    """The rows of a model, by type."""
    return sorted(
        result(f"decision-{name}").get("rows", {}).items(), key=lambda pair: pair[1]["type"]
    )


def _what(key: str, one: Value) -> list[str]:
    return [one["type"], _NAMES[key.partition(" ")[0]]]


def _table(name: str, *, foreign: bool) -> str:
    rows = [
        line for key, one in _rows(name) if one["foreign"] is foreign for line in _lines(key, one)
    ]
    return markdown(HEAD, rows) if rows else MISSING


def _lines(key: str, one: Value) -> Iterator[list[str]]:
    before, after, gain = one["before"], one["after"], with_interval(one["less_before"])
    yield [
        *_what(key, one),
        f"{one['mentions']:,}",
        f"{100 * before['f1']:.1f}",
        f"{100 * after['f1']:.1f}",
        gain,
        f"{100 * after['overlap_f1']:.1f}",
        *(f"{100 * side['calibration_error']:.1f}" for side in (before, after)),
    ]
    for rival, said in one.get("rivals", {}).items():
        where = f"{_NAMES[key.partition(' ')[0]]}: {rival}"
        yield [
            one["type"],
            where,
            f"{one['mentions']:,}",
            "",
            f"{100 * said['f1']:.1f}",
            "",
            f"{100 * said['overlap_f1']:.1f}",
            "",
            "",
        ]


def cases() -> str:
    """Strict F1 of each type on development texts in other cases."""
    found = result("decision-cases").get("rows", {})
    kinds = sorted({kind for row in found.values() for kind in row})
    rows = [[key, *(f"{100 * row[kind]:.1f}" for kind in kinds)] for key, row in found.items()]
    return markdown(("model and text", *kinds), rows) if rows else MISSING


def sentences() -> str:
    """Names of sentences that were written for a test, before the rules and with them."""
    rows = [
        [
            key,
            f"{row['names']:,}",
            *(f"{100 * one['right'] / one['names']:.0f}" for one in (before, row)),
            f"{row['false']}",
        ]
        for key, row in result("sentences-now").get("rows", {}).items()
        for before in [result("sentences-before")["rows"][key]]
    ]
    head = (
        "model and sentences",
        "names",
        "right before, %",
        "right, %",
        "mentions that are no name",
    )
    return markdown(head, rows) if rows else MISSING


def evidence() -> str:
    """Strict F1 on development texts without evidence from outside the network, and with it."""
    rows = [
        [key, f"{row['mentions']:,}", *(f"{100 * row[kind]:.1f}" for kind in ("before", "after"))]
        for key, row in result("decision-evidence").get("rows", {}).items()
    ]
    return (
        markdown(("model, texts and type", "mentions", "F1 before", "F1"), rows)
        if rows
        else MISSING
    )


def retyped() -> str:
    """Mentions that come and go by their type in the pack."""
    kinds = ("come", "come, in gold", "go", "go, in gold")
    found = result("decision-retyped").get("rows", {})
    rows = [[key, *(f"{row[kind]:,}" for kind in kinds)] for key, row in found.items()]
    total = [f"{sum(row[kind] for row in found.values()):,}" for kind in kinds]
    return markdown(("texts and type", *kinds), [*rows, ["all", *total]]) if rows else MISSING


def careful() -> str:
    """Strict scores on texts that taught nothing, without and with the choice *careful*."""
    rows = [
        [
            key,
            f"{row['mentions']:,}",
            *(
                f"{100 * row[name][figure]:.1f}"
                for figure in ("precision", "recall", "f1")
                for name in ("plain", "careful")
            ),
            with_interval(row["difference"]),
        ]
        for key, row in result("decision-careful").get("rows", {}).items()
    ]
    head = ("texts and type", "mentions", "precision", "careful", "recall", "careful", "F1")
    return markdown((*head, "careful", "difference of F1"), rows) if rows else MISSING
