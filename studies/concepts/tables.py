"""What concepts are worth with what ships, in tables, from ``studies/results/concepts-*.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from studies.common import result
from studies.concepts.worth import SURE
from studies.tables.grids import MISSING, markdown

Row = Mapping[str, Any]
_BEFORE, _NOW = "before", "now"
_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bc5cdr": "BC5CDR",
        "ncbi-disease": "NCBI-disease",
        "biored": "BioRED",
        "nlm-gene": "NLM-Gene",
        "gnormplus": "GNormPlus",
        "linnaeus": "LINNAEUS",
        "nlm-chem": "NLM-Chem, passages",
        "bioid": "BioID, captions",
    }
)
# Of the plan: F1 of documents; below it, of all rows: right at 0.9 with so many links, and the
# error of probabilities.
_GOALS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "bc5cdr Disease": 77,
        "bc5cdr Chemical": 86,
        "ncbi-disease Disease": 72,
        "nlm-gene Gene": 67,
        "gnormplus Gene": 77,
        "biored Gene": 74,
        "biored Disease": 76,
        "biored Chemical": 80,
        "biored Species": 96,
        "biored CellLine": 72,
        "nlm-chem Chemical": 54,
    }
)
# Of the plan for names as people write them: F1 of documents, with the vocabulary of gold alone.
_BARS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "bc5cdr Chemical": 90,
        "bc5cdr Disease": 81,
        "ncbi-disease Disease": 76,
        "biored Chemical": 80,
        "biored Disease": 78,
        "biored Gene": 75,
        "nlm-gene Gene": 68,
        "gnormplus Gene": 79,
        "nlm-chem Chemical": 55,
        "bioid CellLine": 84,
    }
)
_OF_GOLD: Final = MappingProxyType({"Chemical": "MESH", "Disease": "MESH", "Gene": "NCBIGene"})
_RIGHT, _MANY, _ERROR, _ERROR_OF_PASSAGES = 95, 500, 4, 6
_LACKING: Final = (
    "not in the pack",
    "no mention found",
    "mention without a concept",
    "mention with another concept",
)
_WRONG: Final = (
    "gold has no mention there",
    "gold has no concept there",
    "the gene of another species",
    "other ends",
    "another concept",
)
_BESIDE: Final = ("biomed-fast", "gold", "pack", "gilda")
_SHORTS: Final = ("pairs", "short linked", "faults", "contrary", "long loses", "forms differ")
_VERDICTS: Final = ("right", "namesake", "same name", "wrong", "none")


def raw() -> str:
    """Concepts of documents from raw text, and F1 of other ways."""
    body = []
    for corpus, kind, now, before in _rows("biomed"):
        others = (_now(f"{corpus} {kind} {system}") for system in _BESIDE)
        body.append(
            [
                _NAMES[corpus],
                kind,
                f"{now['gold']:,}",
                _percent(now["precision"]),
                _percent(now["recall"]),
                f"**{_percent(now['f1'])}** ({_interval(now['f1'])})",
                _percent(now["renewed"]["f1"]),
                _percent(before["f1"]) if before else "",
                *(_percent(one["f1"]) if one else "" for one in others),
            ]
        )
    head = [
        "corpus",
        "type",
        "concepts",
        "precision",
        "recall",
        "F1",
        "identifiers of now",
        "before",
    ]
    return (
        markdown([*head, "`biomed-fast`", "gold mentions", "pack alone", "Gilda"], body)
        if body
        else MISSING
    )


def stated() -> str:
    """What stated probabilities are worth from raw text, before and now."""
    body = []
    for corpus, kind, now, before in _rows("biomed"):
        links = now["renewed"]["links"]
        earlier = before["renewed"]["links"] if before else None
        body.append(
            [
                _NAMES[corpus],
                kind,
                f"{links['links']:,}",
                *(
                    _share(right, count)
                    for tenth, (count, right) in links["tenths"].items()
                    if float(tenth) < SURE
                ),
                *(_sure(one) for one in (earlier, links)),
                *(_error(one) for one in (earlier, links)),
            ]
        )
    head = [
        "corpus",
        "type",
        "links",
        "0.5",
        "0.6",
        "0.7",
        "0.8",
        "0.9 before",
        "0.9 or more",
        "ECE before",
        "ECE",
    ]
    return markdown(head, body) if body else MISSING


def goals() -> str:
    """The goals of the plan beside what was reached, and by which way of counting."""
    body = []
    for corpus, kind, now, _ in _rows("biomed"):
        goal, links = _GOALS.get(f"{corpus} {kind}"), now["renewed"]["links"]
        f1 = 100 * now["renewed"]["f1"]["estimate"]
        error = _ERROR_OF_PASSAGES if corpus == "nlm-chem" else _ERROR
        right = 100 * links["sure_right"] / max(1, links["sure"])
        body.append(
            [
                _NAMES[corpus],
                kind,
                "" if goal is None else f"{goal:g}",
                f"{f1:.1f}" + _missed(goal is not None and round(f1, 1) < goal),
                _sure(links) + _missed(links["sure"] >= _MANY and right < _RIGHT),
                _error(links) + _missed(100 * (links["calibration_error"] or 0) > error),
            ]
        )
    head = ["corpus", "type", "goal", "F1, identifiers of now", f"right at 0.9 ({_RIGHT})"]
    return (
        markdown([*head, f"ECE ({_ERROR}; passages {_ERROR_OF_PASSAGES})"], body)
        if body
        else MISSING
    )


def bars() -> str:
    """The bars beside what ships now, in all vocabularies and in that of gold alone."""
    every = result("concepts-raw-shipped").get("rows", {})
    body = []
    for key, bar in _BARS.items():
        name, before = f"{key} biomed", _now(f"{key} biomed")
        corpus, kind = key.split(" ")
        alone = result(f"concepts-raw-{_OF_GOLD.get(kind, 'shipped')}").get("rows", {}).get(name)
        if not alone or name not in every:
            continue
        f1 = 100 * alone["renewed"]["f1"]["estimate"]
        links, earlier = (one["renewed"]["links"] if one else None for one in (alone, before))
        right = 100 * links["sure_right"] / max(1, links["sure"])
        wanted = 0.9 * earlier["sure"] if earlier else 0
        body.append(
            [
                _NAMES[corpus],
                kind,
                f"{bar:g}",
                _percent(every[name]["renewed"]["f1"]),
                f"{f1:.1f}" + _missed(round(f1, 1) < bar),
                _sure(every[name]["renewed"]["links"]),
                _sure(links)
                + _missed(links["sure"] >= _MANY and (right < _RIGHT or links["sure"] < wanted)),
                _sure(earlier),
                _error(links),
            ]
        )
    head = ["corpus", "type", "bar", "F1", "F1, alone", "right at 0.9"]
    head += [f"right at 0.9, alone ({_RIGHT})", "earlier", "ECE, alone"]
    return markdown(head, body) if body else MISSING


def _missed(is_missed: bool) -> str:
    return " (missed)" if is_missed else ""


def misses() -> str:
    """Why concepts of gold are no answers, and what wrong links at `SURE` or more are."""
    body = []
    for key, kinds in result("concepts-misses").get("rows", {}).items():
        corpus, kind = key.split(" ")
        counts = [kinds["lacking"].get(name, 0) for name in _LACKING] + [
            kinds["wrong"].get(name, 0) for name in _WRONG
        ]
        body.append([_NAMES[corpus], kind, *(f"{count:,}" for count in counts)])
    head = [
        "corpus",
        "type",
        *(f"lacks: {name}" for name in _LACKING),
        *(f"wrong: {name}" for name in _WRONG),
    ]
    return markdown(head, body) if body else MISSING


def labels() -> str:
    """Labels of each vocabulary in a neutral sentence."""
    before, now = (result(f"concepts-labels-{name}").get("rows", {}) for name in (_BEFORE, _NOW))
    body = [
        [
            title,
            f"{one['labels']:,}",
            f"{before[title]['right']:,}" if title in before else "",
            *map(str, _of(one)),
        ]
        for title, one in (now or before).items()
    ]
    head = [
        "vocabulary",
        "labels",
        "right before",
        "right",
        "gene of another species",
        "has the name too",
        "wrong",
        "none",
    ]
    return markdown(head, body) if body else MISSING


def everyday() -> str:
    """Everyday names in a neutral sentence."""
    body = []
    for state in (_BEFORE, _NOW):
        for title, kinds in result(f"concepts-everyday-{state}").get("lists", {}).items():
            for kind, one in kinds.items():
                counts = [str(one[verdict]) for verdict in ("names", "right", "wrong", "none")]
                body.append(
                    [title, state, kind or "all", *counts, _share(one["right"], one["names"])]
                )
    return (
        markdown(["list", "state", "type", "names", "right", "wrong", "none", "right, %"], body)
        if body
        else MISSING
    )


def names() -> str:
    """Names as people write them."""
    states = {
        state: result(f"concepts-names-{state}").get("lists", {}) for state in (_BEFORE, _NOW)
    }
    verdicts = ("names", "right", "wrong", "ambiguous", "none", "not found")
    body = [
        [
            title,
            state,
            *(str(one.get(verdict, 0)) for verdict in verdicts),
            _share(one["right"], one["names"]),
        ]
        for title in states[_NOW]
        for state, lists in states.items()
        if (one := lists.get(title))
    ]
    return markdown(["list", "state", *verdicts, "right, %"], body) if body else MISSING


def shorts() -> str:
    """Short forms that their texts define."""
    body = [
        [title, state, *(f"{one[count]:,}" for count in _SHORTS)]
        for state in (_BEFORE, _NOW)
        for title, one in result(f"concepts-shorts-{state}").get("rows", {}).items()
    ]
    head = [
        "pairs of",
        "state",
        "pairs",
        "short form linked",
        "faults",
        "another concept",
        "long form loses its",
        "differ",
    ]
    return markdown(head, body) if body else MISSING


def paths() -> str:
    """How many texts have another answer on each way in."""
    rows = result("concepts-paths").get("rows", {})
    names = list(dict.fromkeys(name for one in rows.values() for name in one["different"]))
    body = [
        [
            f"`{pair}`",
            *(f"{one[count]:,}" for count in ("texts", "mentions", "links")),
            *(str(one["different"].get(name, "")) for name in names),
        ]
        for pair, one in rows.items()
    ]
    return (
        markdown(["model=linker", "texts", "mentions", "links", *names], body) if body else MISSING
    )


def corrections() -> str:
    """Forms of the correction of probabilities of found mentions, on dev."""
    body = []
    for title, links in result("concepts-corrections").get("rows", {}).items():
        kind, _, form = title.partition(": ")
        body.append([kind, form, f"{links['links']:,}", _sure(links), _error(links)])
    return (
        markdown(["type", "correction", "links", "0.9 or more", "ECE"], body) if body else MISSING
    )


def cost() -> str:
    """What linking costs before and after."""
    titles = {"link_ms": "linking, ms", "open_ms": "opening, ms", "peak_mb": "peak of memory, MB"}
    rows = result("concepts-cost").get("rows", {})
    body = [
        [
            titles[name],
            f"{one['before']:,}",
            f"{one['after']:,}",
            f"{one['ratio']} ({_between(one['ratio_quartiles'])})",
        ]
        for name, one in rows.items()
    ]
    return markdown(["", "before", "after", "ratio (quartiles)"], body) if body else MISSING


def _rows(system: str) -> Iterator[tuple[str, str, Row, Row | None]]:
    """Corpus and type, with the figures of a system now and before; those before where there are
    no others.
    """
    before = result(f"concepts-raw-{_BEFORE}").get("rows", {})
    for key in _all():
        corpus, kind, name = key.split(" ")
        if name == system:
            yield corpus, kind, _all()[key], before.get(key)


def _all() -> Mapping[str, Row]:
    found: Mapping[str, Row] = result(f"concepts-raw-{_NOW}").get("rows") or result(
        f"concepts-raw-{_BEFORE}"
    ).get("rows", {})
    return found


def _now(key: str) -> Row | None:
    """The figures now; those before where it was not measured again."""
    return _all().get(key) or result(f"concepts-raw-{_BEFORE}").get("rows", {}).get(key)


def _of(row: Mapping[str, int]) -> list[int]:
    return [row[verdict] for verdict in _VERDICTS]


def _percent(figure: Mapping[str, float]) -> str:
    return f"{100 * figure['estimate']:.1f}"


def _interval(figure: Mapping[str, float]) -> str:
    return f"{100 * figure['low']:.1f} to {100 * figure['high']:.1f}"


def _between(pair: list[float]) -> str:
    return f"{pair[0]} to {pair[1]}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "–"


def _sure(links: Row | None) -> str:
    return f"{_share(links['sure_right'], links['sure'])} of {links['sure']:,}" if links else ""


def _error(links: Row | None) -> str:
    return (
        ""
        if links is None or links["calibration_error"] is None
        else f"{100 * links['calibration_error']:.1f}"
    )
