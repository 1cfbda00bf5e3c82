"""The value that reports are written from, and the Markdown of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given

from fascicle.core.document import Document, Mention
from fascicle.evaluation.breakdown.buckets import CUTTINGS
from fascicle.evaluation.breakdown.layout import read_lexicon
from fascicle.evaluation.report import BUCKETS_UNCORRECTED, ReportSettings, build_report
from fascicle.evaluation.reports.markdown import markdown
from fascicle.evaluation.reports.markdown_table import escaped
from fascicle.evaluation.reports.page.page import page
from fascicle.evaluation.scoring.inputs import ScoredSystem, score_system
from fascicle.evaluation.scoring.rules import RULES
from fascicle.evaluation.scoring.scores import ONE_DOCUMENT, score
from fascicle.evaluation.uncertainty.intervals import bootstrap, bootstrap_difference
from fascicle.evaluation.uncertainty.significance import randomisation_p_value

from .strategies import TEXT, Corpus, corpora, documents, mentions, sides


def systems_of(corpus: Corpus, *others: dict[str, tuple[Mention, ...]]) -> list[ScoredSystem]:
    said = [sides(corpus)[1], *others]
    return [
        score_system(f"system {i}", documents(corpus), predicted=one) for i, one in enumerate(said)
    ]


def undefined(value: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Every dictionary of a report that has a ``None``, with its key."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if inner is None:
                yield value, key
            yield from undefined(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from undefined(inner)


# Here ``None`` is no number without a value: an error without a partner or score, an empty bin, a
# bare curve.
NOT_NUMBERS = {"partner", "score", "mean_score", "precision_recall"}


@pytest.mark.parametrize("cutting", CUTTINGS)
@given(corpora(scored=True), mentions(at_most=3))
def test_a_report_is_json_and_says_why_a_number_is_undefined(
    cutting: Any, corpus: Corpus, training: tuple[Mention, ...]
) -> None:
    known = read_lexicon([Document(id="t", text=TEXT, mentions=training)]) if training else None
    found = systems_of(corpus, {str(i): () for i in range(len(corpus))})
    report = build_report(
        documents(corpus),
        found,
        training=known,
        settings=ReportSettings(cutting=cutting, resamples=10, examples=2),
    )
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    for row, key in undefined(report):
        if key in NOT_NUMBERS or (key == "precision" and "mean_score" in row) or "threshold" in row:
            continue
        reasons = row["undefined"]
        assert reasons if isinstance(reasons, str) else reasons[key]
    page = markdown(report)
    assert "nan" not in page.lower().split()
    assert "None" not in page
    check_tables(page)


def check_tables(page: str) -> None:
    """Every row of a table has as many cells as its header, which nothing in a name can change."""
    for table in re.findall(r"(?:^\|.*\|$\n?)+", page, re.MULTILINE):
        rows = [len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()]
        assert len(set(rows)) == 1
        assert set(table.splitlines()[1]) <= set("|:- ")


@given(corpora(scored=True))
def test_the_parts_agree(corpus: Corpus) -> None:
    gold, said = sides(corpus)
    report = build_report(
        documents(corpus), systems_of(corpus, gold), settings=ReportSettings(resamples=10)
    )
    first, perfect = report["systems"]
    strict = first["scores"]["rules"]["strict"]["micro"]
    assert list(first["scores"]["rules"]) == list(RULES)
    for name in ("fp", "fn"):
        assert sum(row[name] for row in first["errors"]["classes"].values()) == strict[name]
    for rows in first["buckets"].values():
        assert [sum(row[name] for row in rows) for name in ("tp", "fp", "fn")] == [
            strict[name] for name in ("tp", "fp", "fn")
        ]
    assert (
        first["subsets"]["continuous"]["found"] + first["subsets"]["discontinuous"]["found"]
        == strict["tp"]
    )
    (difference,) = report["differences"]
    assert (difference["system"], difference["baseline"]) == ("system 1", "system 0")
    for rule in RULES:
        f1 = [one["scores"]["rules"][rule]["micro"]["f1"] for one in (perfect, first)]
        assert difference["f1"][rule] == (None if None in f1 else f1[0] - f1[1])
    rates = [one["errors"]["rates"]["type_rate"] for one in (perfect, first)]
    assert difference["error_rates"]["type_rate"] == (
        None if None in rates else rates[0] - rates[1]
    )
    for name, gaps in difference["buckets"].items():
        assert len(gaps) == len(first["buckets"][name])
    if any(said.values()):
        assert first["calibration"]["predicted"] == strict["predicted"]
        assert (
            sum(row["count"] for row in first["calibration"]["reliability"]) == strict["predicted"]
        )
    else:
        assert first["calibration"] == {
            "undefined": "nothing was predicted, so there are no scores to judge"
        }


GENE = Mention(((0, 4),), "Gene", score=0.5, source="model")
DOCUMENT = Document(id="a", text="IL-2 gene", mentions=(Mention(((0, 4),), "Gene"),))


def report_of(
    *predicted: Mention, document: Document = DOCUMENT, others: int = 0
) -> dict[str, Any]:
    more = [Document(id=f"x{i}", text="nothing") for i in range(others)]
    said = {document.id: predicted, **{d.id: () for d in more}}
    return build_report(
        [document, *more], [score_system("model", [document, *more], predicted=said)]
    )


def test_one_document_has_no_interval() -> None:
    scores = report_of(GENE)["systems"][0]["scores"]
    assert (scores["micro_f1_interval"], scores["undefined"]["micro_f1_interval"]) == (
        None,
        ONE_DOCUMENT,
    )
    assert ONE_DOCUMENT in markdown(report_of(GENE))
    assert report_of(GENE, others=1)["systems"][0]["scores"]["micro_f1_interval"]["estimate"] == 1.0


def test_of_one_document_its_sentences_are_drawn() -> None:
    text = "IL-2 gene IL-2 gene IL-2 gene"
    at = [(0, 9), (10, 19), (20, 29)]
    gold = [Mention(((start, start + 4),), "Gene") for start, _ in at]
    document = Document(id="a", text=text, mentions=tuple(gold), sentences=tuple(at))
    found = tuple(Mention(one.spans, "Gene", score=0.5, source="model") for one in gold[:2])
    over = Mention(((15, 24),), "Gene", score=0.5, source="model")  # over the end of its sentence
    other = (*found, over)
    systems = [
        score_system(name, [document], predicted={"a": said})
        for name, said in (("one", found), ("other", other))
    ]
    report = build_report([document], systems)
    assert (report["gold"]["unit"], report["gold"]["drawn"]) == ("document", "sentence")
    parts = {f"a{n}": [one] for n, one in enumerate(gold)}
    first = score(parts, {"a0": [found[0]], "a1": [found[1]], "a2": []})
    second = score(parts, {"a0": [found[0]], "a1": [found[1], over], "a2": []})
    for part, expected in zip(report["systems"], (first, second), strict=True):
        for name, interval in bootstrap(expected).items():
            assert part["scores"][f"{name}_interval"] == interval.as_dict()
    test = report["differences"][0]["test"]
    paired = bootstrap_difference(second, first).as_dict()
    assert test["f1_interval"] == {
        name: value for name, value in paired.items() if name != "p_value"
    }
    assert test["p_value"] == randomisation_p_value(second, first)
    told = "There is only one document, so intervals come from drawing its sentences."
    assert told in markdown(report)
    assert told in page(report)


def test_draws_that_are_left_out_are_said() -> None:
    report = report_of(GENE, others=1)
    scores = report["systems"][0]["scores"]
    count = scores["micro_precision_interval"]["undefined"]
    assert 200 < count < 300  # of 1,000 draws of two documents, those that hold the empty one twice
    said = (
        f"micro P is undefined in {count} of the 1,000 draws of documents, which are left out "
        "of its interval."
    )
    assert said in markdown(report)
    assert said in page(report)
    assert "left out" not in markdown(report_of(GENE, others=0))


def test_every_headline_number_has_its_interval_in_brackets() -> None:
    found = markdown(report_of(GENE, others=1))
    whole = "100.00 [100.00, 100.00]"
    assert f"| model | {whole} | {whole} | {whole} | {whole} | 1 | 1 | 1 | 0 | 0 |" in found
    nothing = markdown(report_of(others=1))
    assert (
        "| model | – | 0.00 [0.00, 0.00] | 0.00 [0.00, 0.00] | 0.00 [0.00, 0.00] | 1 | 0 |"
        in nothing
    )
    assert BUCKETS_UNCORRECTED not in found


def test_missing_scores_leave_the_rest() -> None:
    report = report_of(msgspec.structs.replace(GENE, score=None))
    reason = report["systems"][0]["calibration"]["undefined"]
    assert reason.startswith(
        "1 of the 1 predicted mentions have no score, the first is the Gene at 0 in document 'a'"
    )
    assert "1 of the 1 predicted mentions have no score" in markdown(report)


def test_types_of_one_side() -> None:
    scores = report_of(Mention(((0, 4),), "gene", score=0.5))["systems"][0]["scores"]
    assert (scores["gold_only_types"], scores["predicted_only_types"]) == (["Gene"], ["gene"])


def test_what_training_would_tell_says_so() -> None:
    report = report_of(GENE)
    assert report["gold"]["undefined"] == {"training": "no training corpus was given"}
    assert report["systems"][0]["subsets"]["seen"]["undefined"]
    for name in ("label_consistency", "unknown_words", "training_frequency"):
        assert (
            report["attributes"][name]["undefined"]
            == "it needs the training corpus, which was not given"
        )
        assert name not in report["systems"][0]["buckets"]
    assert "It needs the training corpus" not in markdown(report)
    assert "Undefined: it needs the training corpus, which was not given." in markdown(report)


def test_empty_buckets_are_announced() -> None:
    report = report_of(GENE)
    assert report["attributes"]["length"]["empty"] == ["1", "2", "5+"]  # I L - 2: three words
    assert "Without any mention: 1, 2, 5+." in markdown(report)


def test_names_and_texts_of_others_do_no_harm() -> None:
    text = "<b>*x*</b> | `y`\n\n# head [z](http://a) &lt; __u__"
    said = Mention(((0, 10),), "A|B*", score=0.5)
    document = Document(id="a|b\n#1", text=text, mentions=(Mention(((11, 25),), "<i>"),))
    page = markdown(report_of(said, document=document))
    check_tables(page)
    assert "<b>" not in page
    assert "<i>" not in page
    assert "\n# head" not in page
    assert r"A\|B\*" in page
    assert "&lt;b>".replace(">", r"\>") in page


def test_escaping_keeps_what_is_read() -> None:
    assert escaped(" a\n b ") == "a b"
    assert escaped("x_y & <z> \\ |") == r"x\_y &amp; &lt;z\> \\ \|"


def test_an_example_shows_its_mention_in_bold() -> None:
    document = Document(
        id="d", text="the BRCA1 gene and TP53", mentions=(Mention(((4, 9),), "Gene"),)
    )
    page = markdown(report_of(Mention(((4, 14),), "Gene", score=0.25), document=document))
    assert (
        "predicted Gene “BRCA1 gene”; gold Gene “BRCA1”, score 0.250, in d: … the **BRCA1 gene** "
        "and TP53 …" in page
    )
    parted = Mention(((4, 9), (19, 23)), "Gene", score=0.5)
    page = markdown(report_of(parted, document=document))
    assert "… the **BRCA1** gene and **TP53** …" in page
    edged = Mention(((3, 10),), "Gene", score=0.5)
    assert "… the **BRCA1** gene and TP53 …" in markdown(report_of(edged, document=document))
