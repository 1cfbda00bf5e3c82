"""Rows of *comparing-and-combining*: Table 1, and remarks that it makes without a comparison."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from fascicle.training.experiments.results import read_result
from studies.combining import gains as combining_gains
from studies.combining.tables import CORPORA, PAPER
from studies.common import RESULTS
from studies.papers.row import PaperRow, archive
from studies.papers.rule import NOT_AT_HAND, Compared
from studies.papers.sources import deviation, minutes, on_dev, percent, rows

PAGE: Final = "combining-tables.md"
META: Final = "Meta(SpanPred ∪ SEQ)"
# a half of GENIA, with another split than that of the paper, and a corpus that it does not have
ELSEWHERE: Final = ("genia-events", "bc5cdr")
# Half of GENIA lacks nothing but a second corpus in these rows: runs of the same systems on another.
SECOND: Final[Mapping[str, str]] = {"genia-events": "bc5cdr"}
CONFIRMED: Final = ("recall of both unions", "precision of both unions")
LIVING: Final = "livingner-resplit"
# corpus -> table of the paper that it stands beside
PRINTED: Final = {**CORPORA, LIVING: "LivingNER", "bc5cdr": CORPORA["genia-events"]}
LESS_GOLD: Final[Mapping[str, str]] = {
    "ncbi-disease": "; the paper drops the gold that crosses its sentences"
}
OWN_SPLIT: Final = "a split of our own, by sentence"
BEST_OF_PAPER: Final = ("SpanPred",)  # alone, on all corpora
UNIONS: Final = ("SpanPred ∪ SEQ", "SpanPred ∪ SEQ ∪ SeqCRF")
VOTES: Final = ("SpanPred x SEQ", "SpanPred x SEQ x SeqCRF")
GAINS: Final = "studies.combining.gains"
RESULTS_OF: Final = ("combining.tar.xz", f"{combining_gains.NAME}.json")
UNPACK: Final = "unpack the stored runs first with `python -m studies.results_packs unpack`"
SYSTEMS: Final[Mapping[str, str]] = {"SpanPred": "spanpred", "SEQ": "softmax", "SeqCRF": "crf"}
NAMED: Final = {
    "ncbi-disease": (
        "NCBI-Disease",
        "ncbi-disease",
        "recipes/filters/combining/ncbi-disease-meta2.toml",
    ),
    "genia-events": (
        "Genia, its documents with events",
        "genia-event-documents",
        "recipes/filters/combining/genia-events-meta2.toml",
    ),
    "genia-resplit": (
        "Genia in 50/25/25 per cent",
        "genia-in-502525-per-cent",
        "recipes/filters/combining/genia-resplit-meta2.toml",
    ),
}


def comparing() -> list[PaperRow]:
    """The rows of the paper, in its order."""
    found = [*_licensed()]
    for corpus in NAMED:
        found += [_singles(corpus), *_combined(corpus)]
    return [*found, *_living(), _specials(), _earlier_epochs(), _adafactor()]


def _licensed() -> list[PaperRow]:
    social = PaperRow(
        what="Table 1, SocialDisNER, all rows",
        said=NOT_AT_HAND,
        remark="The gold of its test part is not public; texts and gold of train and dev are read.",
        needs="`$FASCICLE_DATA/socialdisner-es/test`, the texts of the test part with the table "
        "of its gold",
        table="../../docs/formats/annotation.md#texts-with-a-table-of-offsets",
        commands=tuple(
            f"recipes/papers/comparing-socialdisner-{system}.toml"
            for system in ("spanpred", "seq", "seqcrf")
        ),
    )
    living = PaperRow(
        what="Table 1, LivingNER, its own parts",
        said=NOT_AT_HAND,
        remark="The rows of a split of our own have free parts, an encoder that has read English, "
        "and no filter, which takes half an hour of training.",
        needs="`$FASCICLE_DATA/livingner/training/text-files` and the other parts, with their "
        "tables",
        table=f"{PAGE}#livingner-the-free-re-split",
        commands=(
            "studies.combining.livingner_resplit",
            *(
                f"recipes/papers/comparing-livingner-{system}.toml"
                for system in ("spanpred", "seq", "seqcrf")
            ),
        ),
        results=("combining.tar.xz",),
    )
    return [social, living]


def _living() -> list[PaperRow]:
    """What a split of our own says of LivingNER, over the system that is best alone here."""
    stored = read_result(RESULTS / "combining", LIVING).get("rows", {})
    best_there = _best(LIVING, "f1")
    best_here = max(SYSTEMS, key=lambda name: stored.get(name, {"micro": {"f1": 0}})["micro"]["f1"])
    other = f"the best alone ({best_there} there, {best_here} here)"
    parts = (
        ("the best system", BEST_OF_PAPER, best_here),
        ("both unions", UNIONS, other),
        ("vote of two", VOTES[:1], other),
        ("vote of three", VOTES[1:], other),
    )
    return [
        PaperRow(
            what=f"Table 1, LivingNER in a split of our own: {part}",
            found=tuple(
                Compared(
                    what=f"{name} less {less}",
                    paper=round(
                        _printed(LIVING, name)["f1"]
                        - _printed(LIVING, best_here if less == best_here else best_there)["f1"],
                        1,
                    ),
                    **percent(stored[name]["over_single"]),
                    deviation=deviation(LIVING),
                    doubt=OWN_SPLIT,
                    loose=True,
                    corpus=LIVING,
                    minutes=_trained(LIVING, *SYSTEMS),
                )
                for name in names
                if name in stored
            ),
            remark="Free parts of another project, with an encoder that has read English, and one "
            "seed.",
            table=f"{PAGE}#livingner-the-free-re-split",
            commands=("studies.combining.livingner_resplit", "studies/grids/combining.toml"),
            results=("combining.tar.xz",),
        )
        for part, names, less in parts
    ]


def _stored(corpus: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (
        read_result(RESULTS, combining_gains.NAME).get("corpora", {}).get(corpus, {})
    )
    return found


def _printed(corpus: str, name: str) -> dict[str, float]:
    """Precision, recall and F1 of the paper, as printed."""
    f1, precision, recall = re.findall(r"[\d.]+", PAPER[PRINTED[corpus]][name])
    return {"precision": float(precision), "recall": float(recall), "f1": float(f1)}


def _best(corpus: str, measure: str) -> str:
    """The system alone that is best in the paper; the same one is taken on both sides."""
    return max(SYSTEMS, key=lambda name: _printed(corpus, name)[measure])


def _trained(corpus: str, *systems: str) -> dict[str, float]:
    """Minutes of the runs behind some systems."""
    found = [rows("combining").get((corpus, SYSTEMS[name], "")) for name in systems]
    return minutes(row.found[1] for row in found if row and 1 in row.found)


def _points(corpus: str, name: str, alone: str, measure: str) -> list[float]:
    """One system less another one that stands alone here, with its ends; empty where it was not
    measured.
    """
    found: list[float] = (
        _stored(corpus).get("gains", {}).get(name, {}).get(alone, {}).get(measure, [])
    )
    return found


def _best_here(corpus: str, measure: str) -> str:
    """The system alone that is best here."""
    return max(SYSTEMS, key=lambda name: sum((_points(corpus, name, "SEQ", measure) or [0.0])[:1]))


def _is_weakest_here(corpus: str, alone: str, measure: str) -> bool:
    """Whether a system is below each other one that stands alone."""
    found = [_points(corpus, alone, other, measure) for other in SYSTEMS if other != alone]
    return all(found) and all(points[0] < 0 for points in found)


def _less(corpus: str, name: str, alone: str, measure: str, *, there: str = "") -> list[Compared]:
    """One system less another one that stands alone, in the paper and here; nothing where it was
    not measured.

    Args:
        corpus: name of the corpus.
        name: system or combination.
        alone: system that it is compared with here.
        measure: that is compared.
        there: system that it is compared with in the paper, if that is another one.
    """
    found = _points(corpus, name, alone, measure)
    if not found:
        return []
    here, low, high = found
    other = f"the best alone ({there} there, {alone} here)" if there else alone
    return [
        Compared(
            what=f"{name} less {other}" if measure == "f1" else f"{measure}, {name} less {other}",
            paper=round(
                _printed(corpus, name)[measure] - _printed(corpus, there or alone)[measure], 1
            ),
            here=here,
            low=low,
            high=high,
            deviation=deviation(corpus, measure),
            corpus=corpus,
            elsewhere=corpus in ELSEWHERE,
            minutes=_trained(corpus, *(one for one in SYSTEMS if one in name or one == alone)),
        )
    ]


def _singles(corpus: str) -> PaperRow:
    """The system that is best in the paper less each other one."""
    what, anchor, _ = NAMED[corpus]
    best = _best(corpus, "f1")
    return PaperRow(
        what=f"Table 1, {what}: the single systems",
        found=tuple(
            one for other in SYSTEMS if other != best for one in _less(corpus, best, other, "f1")
        ),
        remark="The rates and epochs here are those of a small "
        f"encoder{LESS_GOLD.get(corpus, '')}.",
        table=f"{PAGE}#{anchor}",
        commands=("studies/grids/combining.toml", GAINS),
        results=RESULTS_OF,
    )


def _over(corpus: str, name: str, measure: str) -> list[Compared]:
    """A combination over the system that is best in the paper; if that is the weakest here, also
    over the best here.
    """
    best = _best(corpus, measure)
    found = _less(corpus, name, best, measure)
    if _is_weakest_here(corpus, best, measure):
        found += _less(corpus, name, _best_here(corpus, measure), measure, there=best)
    return found


def _over_each(corpus: str, name: str, measure: str) -> list[Compared]:
    """A combination over each system that stands alone: what the paper claims of its filter."""
    return [one for alone in SYSTEMS for one in _less(corpus, name, alone, measure)]


def _over_union(corpus: str) -> PaperRow:
    """The filter over the union that it filters."""
    what, _, recipe = NAMED[corpus]
    return PaperRow(
        what=f"Table 1, {what}: Meta over its union",
        found=tuple(_less(corpus, META, UNIONS[0], "f1")),
        remark=f"What the filter gains over the predictions that it reads; {UNPACK}.",
        table=f"{PAGE}#what-the-learned-filter-gains",
        commands=(recipe, GAINS),
        results=RESULTS_OF,
    )


def _rejected(corpus: str) -> str:
    """What the filter takes from the recall of the union."""
    kept, union = (_points(corpus, name, "SEQ", "recall") for name in (META, UNIONS[0]))
    lost = f", ours {union[0] - kept[0]:.1f}" if kept and union else ""
    there = _printed(corpus, UNIONS[0])["recall"] - _printed(corpus, META)["recall"]
    return (
        "A union cannot have less recall than a member, so what can differ is what the filter "
        "takes from it: that of "
        f"the paper takes {there:.1f} points{lost}; {UNPACK}."
    )


def _combined(corpus: str) -> list[PaperRow]:
    """Unions, votes and the filter over single systems, by the same measure on both sides."""
    what, anchor, recipe = NAMED[corpus]
    rules, kept = (f"{PAGE}#{anchor}", GAINS), (f"{PAGE}#what-the-learned-filter-gains", recipe)
    parts = (
        ("both unions", UNIONS, "f1", "From the predictions of the single systems.", rules),
        (
            "recall of both unions",
            UNIONS,
            "recall",
            "A union cannot have less recall than a member.",
            rules,
        ),
        (
            "precision of both unions",
            UNIONS,
            "precision",
            "The paper names it as the price of the recall.",
            rules,
        ),
        ("vote of two", VOTES[:1], "f1", "It keeps what both systems predict.", rules),
        ("vote of three", VOTES[1:], "f1", "It keeps what two of the systems predict.", rules),
        (
            "precision of both votes",
            VOTES,
            "precision",
            "The paper finds it raised on all corpora.",
            rules,
        ),
        (
            "Meta",
            (META,),
            "f1",
            f"The paper finds it at least as high as each system alone; {UNPACK}.",
            kept,
        ),
        ("recall of Meta", (META,), "recall", _rejected(corpus), kept),
    )
    combined = [
        PaperRow(
            what=f"Table 1, {what}: {part}",
            found=tuple(
                one
                for at in _corpora(corpus, part)
                for name in names
                for one in (_over_each if name == META else _over)(at, name, measure)
            ),
            remark=f"{remark[:-1]}{_beside(corpus, part)}.",
            table=table,
            commands=(command,) if command == GAINS else (command, GAINS),
            results=RESULTS_OF,
        )
        for part, names, measure, remark, (table, command) in parts
    ]
    return [*combined, _over_union(corpus)]


def _corpora(corpus: str, part: str) -> tuple[str, ...]:
    """The corpus, and a second one where that is all that a row lacked."""
    return (corpus, SECOND[corpus]) if corpus in SECOND and part in CONFIRMED else (corpus,)


def _beside(corpus: str, part: str) -> str:
    """What a remark says of the second corpus."""
    return (
        "; BC5CDR, which the paper does not have, is the second corpus that a row of half of GENIA "
        "needs"
        if len(_corpora(corpus, part)) > 1
        else ""
    )


def _claims(
    what: str, paper: float, pairs: tuple[tuple[str, str, str], ...]
) -> tuple[Compared, ...]:
    """On dev of conll04: a system with a variant less the same system with another one."""
    found = rows("claims")
    return tuple(
        one
        for name, variant, base in pairs
        for one in on_dev(
            f"{what}, {name}",
            paper,
            first=found.get(("conll04", SYSTEMS[name], variant)),
            second=found.get(("conll04", SYSTEMS[name], base)),
            drawn=True,
            elsewhere=True,
        )
    )


def _specials() -> PaperRow:
    return PaperRow(
        what="§4.1, special tokens in the loss",
        found=_claims(
            "with less without",
            1,
            (("SpanPred", "specials", ""), ("SEQ", "piece-specials", "piece")),
        ),
        remark="F1 on dev; SEQ has tags on pieces.",
        table=f"{PAGE}#remarks-of-the-paper-on-dev",
        commands=("studies/grids/claims.toml",),
        results=(archive("claims"),),
    )


def _earlier_epochs() -> PaperRow:
    """The filter over three systems with and without them; BC5CDR is not in the paper."""
    found = {
        corpus: _stored(corpus).get("earlier_epochs") for corpus in ("ncbi-disease", *ELSEWHERE)
    }
    return PaperRow(
        what="§4.6, mistakes of earlier epochs",
        found=tuple(
            Compared(
                what=f"Meta(SpanPred ∪ SEQ ∪ SeqCRF) on {corpus}, with less without",
                paper=1,
                here=points[0],
                low=points[1],
                high=points[2],
                deviation=deviation(corpus),
                drawn=True,
                corpus=corpus,
                elsewhere=corpus != "ncbi-disease",
                minutes=_trained(corpus, *SYSTEMS),
            )
            for corpus, points in found.items()
            if points
        ),
        remark="The paper gives a reason to have them, and no number; with them the filter also "
        "makes more steps of "
        "training.",
        table=f"{PAGE}#what-the-learned-filter-gains",
        commands=("recipes/filters/combining/bc5cdr-meta3-best.toml", GAINS),
        results=RESULTS_OF,
    )


BEST_RATE: Final = "the best of three rates, chosen by this number"


def _adafactor() -> PaperRow:
    """As planned: Adafactor at the best of its rates, which favours it."""
    found = [
        [
            one
            for rate in ("1e-4", "2e-4", "4e-4")
            for one in _claims(
                f"Adafactor at {rate} less Adam", 1, ((name, f"adafactor-{rate}", "adam"),)
            )
        ]
        for name in ("SpanPred", "SEQ")
    ]
    return PaperRow(
        what="§4.8, Adafactor",
        found=tuple(
            replace(
                max(rates, key=lambda one: one.here), doubt=BEST_RATE, minutes=_all_minutes(rates)
            )
            for rates in found
            if rates
        ),
        remark="F1 on dev, at the best of three rates of Adafactor and one of Adam.",
        table=f"{PAGE}#remarks-of-the-paper-on-dev",
        commands=("studies/grids/claims.toml",),
        results=(archive("claims"),),
    )


def _all_minutes(rates: Sequence[Compared]) -> dict[str, float]:
    """Minutes of the runs at all rates."""
    return {run: spent for one in rates for run, spent in one.minutes.items()}
