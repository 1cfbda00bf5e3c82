"""Rows of *comparing-and-combining*: Table 1, and remarks that it makes without a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fascicle.training.experiments.results import read_result
from studies.combining.tables import CORPORA, PAPER
from studies.common import RESULTS
from studies.papers.row import PaperRow, archive
from studies.papers.rule import NOT_AT_HAND, TESTED, Compared
from studies.papers.sources import deviation, minutes, on_dev, percent, rows

PAGE: Final = "combining-tables.md"
META: Final = "Meta(SpanPred ∪ SEQ)"
ELSEWHERE: Final = ("genia-events",)  # a half of GENIA, with another split than that of the paper
BY_SENTENCE: Final[Mapping[str, str]] = {"genia-resplit": "over sentences of shared abstracts"}  # too narrow
UNIONS: Final = ("SpanPred ∪ SEQ", "SpanPred ∪ SEQ ∪ SeqCRF")
VOTES: Final = ("SpanPred x SEQ", "SpanPred x SEQ x SeqCRF")
SYSTEMS: Final[Mapping[str, str]] = {"SpanPred": "spanpred", "SEQ": "softmax", "SeqCRF": "crf"}
NAMED: Final = {
    "ncbi-disease": ("NCBI-Disease", "ncbi-disease", "recipes/filters/combining/ncbi-disease-meta2.toml"),
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
        found += [*_singles(corpus), *_combined(corpus), _filter(corpus)]
    return [*found, _specials(), _earlier_epochs(), _adafactor()]


def _licensed() -> list[PaperRow]:
    social = PaperRow(
        what="Table 1, SocialDisNER, all rows",
        said=NOT_AT_HAND,
        remark="The gold of its test part is not public; texts and gold of train and dev are read.",
        needs="`$FASCICLE_DATA/socialdisner-es/test`, the texts of the test part with the table of its gold",
        table="../../docs/formats/annotation.md#texts-with-a-table-of-offsets",
        commands=tuple(
            f"recipes/papers/comparing-socialdisner-{system}.toml" for system in ("spanpred", "seq", "seqcrf")
        ),
    )
    living = PaperRow(
        what="Table 1, LivingNER, all rows",
        said=NOT_AT_HAND,
        remark="The table is of a re-split of free parts, with an encoder that has read English.",
        needs="`$FASCICLE_DATA/livingner/training/text-files` and the other parts, with their tables",
        table=f"{PAGE}#livingner-the-free-re-split",
        commands=(
            "studies.combining.livingner_resplit",
            *(f"recipes/papers/comparing-livingner-{system}.toml" for system in ("spanpred", "seq", "seqcrf")),
        ),
        results=("combining.tar.xz",),
    )
    return [social, living]


def _stored(corpus: str) -> Mapping[str, Any]:
    return read_result(RESULTS / "combining", corpus)


def _f1(corpus: str, name: str) -> float:
    """F1 of the paper, as printed."""
    return float(PAPER[CORPORA[corpus]][name].split(" ", 1)[0])


def _trained(corpus: str, *systems: str) -> dict[str, float]:
    """Minutes of the runs behind some systems."""
    found = [rows("combining").get((corpus, SYSTEMS[name], "")) for name in systems]
    return minutes(row.found[1] for row in found if row and 1 in row.found)


def _over_best(corpus: str, names: tuple[str, ...]) -> tuple[Compared, ...]:
    """F1 of some systems less that of the best single one, in the paper and here, each on its own best."""
    stored = _stored(corpus)
    if not stored:
        return ()
    best = max(SYSTEMS, key=lambda name: _f1(corpus, name))
    single = stored["choice"]["single"]
    return tuple(
        Compared(
            what=f"{name} less {best}" if best == single else f"{name} less the best alone ({best}; here {single})",
            paper=round(_f1(corpus, name) - _f1(corpus, best), 1),
            **percent(stored["rows"][name]["over_single"]),
            deviation=deviation(corpus),
            doubt=BY_SENTENCE.get(corpus, ""),
            corpus=corpus,
            elsewhere=corpus in ELSEWHERE,
            minutes=_trained(corpus, *(one for one in SYSTEMS if one in name or one == single)),
        )
        for name in names
        if name in stored["rows"]
    )


def _baselines(corpus: str) -> str:
    """Half a sentence where the best system alone is another one than in the paper."""
    best, stored = max(SYSTEMS, key=lambda name: _f1(corpus, name)), _stored(corpus)
    single = stored["choice"]["single"] if stored else best
    return "" if single == best else f"; so the baselines differ, and {best} with SEQ has no part of {single}"


def _singles(corpus: str) -> list[PaperRow]:
    """SpanPred over each tagger, and one tagger over the other."""
    what, anchor, _ = NAMED[corpus]
    stored = _stored(corpus)
    if not stored:
        return []
    said = {name: stored["rows"][name]["over_single"] for name in SYSTEMS}
    single = stored["choice"]["single"]
    pairs = [(single, other) for other in SYSTEMS if other != single]
    found = tuple(
        Compared(
            what=f"{first} less {second}",
            paper=round(_f1(corpus, first) - _f1(corpus, second), 1),
            here=-100 * said[second]["estimate"],
            low=-100 * said[second]["high"],
            high=-100 * said[second]["low"],
            deviation=deviation(corpus),
            doubt=BY_SENTENCE.get(corpus, ""),
            corpus=corpus,
            elsewhere=corpus in ELSEWHERE,
            minutes=_trained(corpus, first, second),
        )
        for first, second in pairs
    )
    row = PaperRow(
        what=f"Table 1, {what}: the single systems",
        found=found,
        remark="The rates and epochs here are those of a small encoder.",
        table=f"{PAGE}#{anchor}",
        commands=("studies/grids/combining.toml",),
        results=("combining.tar.xz",),
    )
    return [row]


def _combined(corpus: str) -> list[PaperRow]:
    what, anchor, _ = NAMED[corpus]
    parts = (("both unions", UNIONS), ("vote of two", VOTES[:1]), ("vote of three", VOTES[1:]))
    return [
        PaperRow(
            what=f"Table 1, {what}: {part}",
            found=_over_best(corpus, names),
            remark="From the predictions of the single systems; dev chose the best one here, and test in the paper"
            f"{_baselines(corpus)}.",
            table=f"{PAGE}#{anchor}",
            commands=("studies.combining.measure",),
            results=("combining.tar.xz",),
        )
        for part, names in parts
    ]


def _filter(corpus: str) -> PaperRow:
    what, _, recipe = NAMED[corpus]
    return PaperRow(
        what=f"Table 1, {what}: Meta",
        found=_over_best(corpus, (META,)),
        remark="The filter over two systems; unpack the stored runs first with `python -m studies.results_packs "
        f"unpack`{_baselines(corpus)}.",
        table=f"{PAGE}#what-the-learned-filter-gains",
        commands=(recipe,),
        results=("combining.tar.xz",),
    )


def _claims(what: str, paper: float, pairs: tuple[tuple[str, str, str], ...]) -> tuple[Compared, ...]:
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
        found=_claims("with less without", 1, (("SpanPred", "specials", ""), ("SEQ", "piece-specials", "piece"))),
        remark="F1 on dev; SEQ has tags on pieces.",
        table=f"{PAGE}#remarks-of-the-paper-on-dev",
        commands=("studies/grids/claims.toml",),
        results=(archive("claims"),),
    )


def _earlier_epochs() -> PaperRow:
    return PaperRow(
        what="§4.6, mistakes of earlier epochs",
        said=TESTED,
        remark="With one seed they help the filter on BC5CDR, which is not in the paper, or the training steps that "
        "they bring do; on two other corpora no difference is shown.",
        table=f"{PAGE}#what-the-learned-filter-gains",
        commands=("recipes/filters/combining/bc5cdr-meta3-best.toml",),
        results=("combining.tar.xz",),
    )


def _adafactor() -> PaperRow:
    pairs = ("SpanPred", "SEQ")
    return PaperRow(
        what="§4.8, Adafactor",
        found=tuple(
            one
            for rate in ("1e-4", "2e-4", "4e-4")
            for one in _claims(f"Adafactor at {rate} less AdamW", 1, tuple((n, f"adafactor-{rate}", "") for n in pairs))
        ),
        remark="F1 on dev, at three rates of Adafactor and one of AdamW; the paper compares with Adam.",
        table=f"{PAGE}#remarks-of-the-paper-on-dev",
        commands=("studies/grids/claims.toml",),
        results=(archive("claims"),),
    )
