"""The pictures of a report: from its numbers, the same each time, and a reason where there is
none.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from matplotlib.lines import Line2D
from tests.evaluation.strategies import mentions

from fascicle.core.document import Document, Mention
from fascicle.evaluation.breakdown.errors import CLASSES, find_mistakes
from fascicle.evaluation.report import ReportSettings, build_report
from fascicle.evaluation.reports.plots.canvas import (
    STYLES,
    Drawing,
    PictureLabels,
    make_labels,
    open_sheet,
    side_by_side,
    style,
)
from fascicle.evaluation.reports.plots.f1_pictures import f1_by_type, f1_intervals
from fascicle.evaluation.reports.plots.matrices import (
    Matrix,
    confusion_matrix,
    draw_confusion,
    fold_last_types,
    heat_maps,
)
from fascicle.evaluation.reports.plots.report_pictures import (
    bucket_f1,
    precision_recall,
    reliability,
    report_pictures,
)
from fascicle.evaluation.scoring.inputs import score_system

TEXT = "lung cancer and pain after aspirin, IL-2 given"
GOLD = tuple(
    Mention(((a, b),), t)
    for a, b, t in ((0, 11, "Disease"), (16, 20, "Disease"), (27, 34, "Chemical"))
)
SAID = (
    (5, 11, "Disease", 0.9),
    (16, 20, "Disease", 0.8),
    (27, 34, "Disease", 0.7),
    (36, 40, "Gene", 0.2),
)
PREDICTED = tuple(Mention(((a, b),), t, score=s, source="m") for a, b, t, s in SAID)


def report_of(
    *predicted: tuple[Mention, ...], gold: tuple[Mention, ...] = GOLD, documents: int = 3
) -> dict[str, Any]:
    texts = [Document(id=str(i), text=TEXT, mentions=gold) for i in range(documents)]
    systems = [
        score_system(f"s{at}", texts, predicted={d.id: said for d in texts})
        for at, said in enumerate(predicted)
    ]
    return build_report(texts, systems, settings=ReportSettings(resamples=20))


NAMES = PictureLabels(names=("a", "b", "c"))


def test_a_report_has_its_pictures_and_the_same_ones_each_time() -> None:
    report = report_of(PREDICTED, PREDICTED[:2])
    drawn = report_pictures(report)
    defined = [
        name for name, attribute in report["attributes"].items() if "undefined" not in attribute
    ]
    each = [f"{kind}-{at}" for kind in ("confusion", "reliability") for at in range(2)]
    assert set(drawn) == {
        "f1",
        "f1-types",
        "precision-recall",
        "differences-1",
        *each,
        *(f"bucket-{name}" for name in defined),
    }
    for picture in drawn.values():
        ElementTree.fromstring(picture.svg)
        assert 'aria-label="' in picture.svg
    assert report_pictures(report) == drawn


def test_undefined_numbers_have_a_reason_and_no_picture() -> None:
    nothing = report_of((), gold=())
    drawn = report_pictures(nothing)
    assert drawn["f1"].missing == "there is no gold mention and nothing was predicted"
    assert drawn["confusion-0"].missing == "there is no mention, so there is no type"
    assert (
        drawn["reliability-0"].missing == "nothing was predicted, so there are no scores to judge"
    )
    assert (
        drawn["precision-recall"].missing
        == "nothing was predicted, so there are no scores to judge"
    )
    assert drawn["bucket-length"].missing == "no bucket has a gold mention"
    assert not any(picture.svg for picture in drawn.values())
    both = report_pictures(report_of((), (), gold=()))
    assert both["differences-1"].missing


def test_one_system_of_several_may_be_undefined() -> None:
    report = report_of(PREDICTED, ())
    picture = precision_recall(report["systems"], NAMES)
    assert picture.draw
    assert picture.notes == (
        "Undefined for b: nothing was predicted, so there are no scores to judge.",
    )
    alone = f1_intervals(report_of(PREDICTED, documents=1)["systems"], PictureLabels(names=("a",)))
    assert alone.draw
    assert alone.notes[0].startswith("No interval: there is only one document")


def test_more_systems_than_looks_are_not_drawn_as_if_they_could_be_told_apart() -> None:
    report = report_of(*[PREDICTED] * (2 * len(STYLES) + 1))
    many = make_labels([one["name"] for one in report["systems"]], kind="system")
    rows = [one["buckets"]["length"] for one in report["systems"]]
    assert "15 systems cannot be told apart" in bucket_f1(rows, many).missing
    assert "15 systems cannot be told apart" in precision_recall(report["systems"], many).missing
    assert bucket_f1(rows[:-1], PictureLabels(names=many.names[:-1])).draw
    assert f1_intervals(report["systems"], many).draw
    assert "15 systems cannot be told apart" in f1_by_type(report["systems"], many).missing


def test_bins_of_few_mentions_are_said_to_be_such() -> None:
    value = report_of(PREDICTED)["systems"][0]["calibration"]
    assert reliability(value).notes == ("Open marks: fewer than 20 mentions.",)
    for row in value["reliability"]:
        row["count"] *= 100
    assert reliability(value).notes == ()


def test_heat_maps_share_their_colours() -> None:
    report = report_of(PREDICTED, PREDICTED[:2], ())
    drawn = heat_maps(report, NAMES)
    assert list(drawn) == ["differences-1", "differences-2"]
    assert drawn["differences-1"].notes == drawn["differences-2"].notes
    assert drawn["differences-1"].picture().svg != drawn["differences-2"].picture().svg


@settings(max_examples=50)
@given(mentions(), mentions(source="m"))
def test_a_confusion_matrix_counts_every_prediction_once(
    gold: tuple[Mention, ...], said: tuple[Mention, ...]
) -> None:
    matrix = confusion_matrix(report_of(said, gold=gold, documents=1)["systems"][0])
    found = find_mistakes({"0": gold}, {"0": said})
    counts: Counter[tuple[str, str]] = Counter()
    near: Counter[str] = Counter()
    for mistake in found:
        if mistake.side == "fn":
            counts[mistake.mention.type, ""] += mistake.kind == "missed"
        elif mistake.partner is None:
            counts["", mistake.mention.type] += 1
        elif mistake.partner.type == mistake.mention.type:
            near[mistake.mention.type] += 1
        else:
            counts[mistake.partner.type, mistake.mention.type] += 1
    for type_, spans in {(m.type, m.spans) for m in gold} & {(m.type, m.spans) for m in said}:
        assert spans
        counts[type_, type_] += 1
    names = (*matrix.types, "")
    assert matrix.counts.tolist() == [[counts[row, column] for column in names] for row in names]
    assert matrix.near.tolist() == [near[name] for name in matrix.types]
    for at, name in enumerate(matrix.types):
        assert matrix.counts[:, at].sum() + matrix.near[at] == sum(m.type == name for m in said)


def test_rare_types_are_taken_together_and_nothing_is_lost() -> None:
    generator = np.random.default_rng(0)
    counts = generator.integers(0, 9, size=(8, 8))
    counts[-1, -1] = 0
    matrix = Matrix(types=tuple("ABCDEFG"), counts=counts, near=np.arange(7))
    small = fold_last_types(matrix, at_most=3)
    assert small.types == ("A", "B", "(others)")
    assert small.counts.sum() + small.near.sum() == counts.sum() + 21
    assert small.counts[:2, :2].tolist() == counts[:2, :2].tolist()
    assert small.counts[2, 2] == counts[2:7, 2:7].trace()
    assert small.near[2] == 20 + counts[2:7, 2:7].sum() - counts[2:7, 2:7].trace()
    assert small.counts[3].tolist() == [*counts[7, :2], counts[7, 2:7].sum(), 0]
    assert small.counts[0].tolist() == [*counts[0, :2], counts[0, 2:7].sum(), counts[0, 7]]
    assert fold_last_types(matrix, at_most=7) is matrix


def test_a_matrix_of_many_types_says_what_it_takes_together() -> None:
    gold = tuple(Mention(((i, i + 1),), f"type {i}") for i in range(20))
    picture = draw_confusion(report_of((), gold=gold)["systems"][0])
    assert picture.notes == (
        "(others): 9 rarer types taken together, after + also those taken for one another.",
    )
    assert len(CLASSES) == 10


@pytest.mark.parametrize("name", ["病気", "مرض", "a\nb", "\u202e", "", " ", "\x07", "\udcff"])
def test_a_name_that_cannot_be_drawn_is_numbered(name: str) -> None:
    found = make_labels(["plain", name], kind="type")
    assert found.names == ("plain", "[type 2]")
    assert found.notes == (f"In the picture, [type 2] is “{name}”.",)


def test_names_are_short_and_no_two_the_same() -> None:
    found = make_labels(
        ["a" * 40, "b" * 20 + "x" + "c" * 20, "b" * 20 + "y" + "c" * 20, "_hidden", "$x_{$"],
        kind="system",
    )
    assert found.names[0] == "a" * 14 + "…" + "a" * 13
    assert found.names[1:3] == ("[system 2]", "[system 3]")
    assert not found.names[3].startswith("_")
    assert found.names[4] == "$x_{$"
    assert len(found.notes) == 2
    assert len(set(found.names)) == 5


def test_names_of_others_are_drawn_as_text() -> None:
    names = make_labels(["$\\frac{a}$", "_x", "<script>", "-->"], kind="system")
    report = report_of(*[PREDICTED] * 4)
    picture = precision_recall(report["systems"], names).picture()
    ElementTree.fromstring(picture.svg)
    assert "<script" not in picture.svg
    for drawing in (f1_intervals(report["systems"], names), f1_by_type(report["systems"], names)):
        ElementTree.fromstring(drawing.picture().svg)


def lines_of(drawing: Drawing) -> list[Line2D]:
    with open_sheet() as figure:
        assert drawing.draw is not None
        drawing.draw(figure)
        return list(figure.axes[0].get_lines())


def test_a_short_curve_has_marks_whatever_its_place() -> None:
    report = report_of(PREDICTED, PREDICTED[:2], PREDICTED[:1])
    lines = lines_of(precision_recall(report["systems"], NAMES))
    assert len(lines) == 3
    for line in lines:
        start, step = line.get_markevery()
        assert len(line.get_xdata()[start::step]) >= 1


def test_what_is_drawn_of_types_are_the_numbers_of_the_report() -> None:
    report = report_of(PREDICTED, PREDICTED[:2])
    drawing = f1_by_type(report["systems"], PictureLabels(names=("a", "b")))
    marks = [
        line
        for line in lines_of(drawing)
        if line.get_marker() not in ("None", None) and len(line.get_xdata())
    ]
    strict = [one["scores"]["rules"]["strict"] for one in report["systems"]]
    rows = [
        (row["micro"], *(row["types"].get(name) for name in ("Disease", "Chemical", "Gene")))
        for row in strict
    ]
    expected = [row["f1"] for pair in zip(*rows, strict=True) for row in pair if row is not None]
    assert [line.get_xdata()[0] / 100 for line in marks] == pytest.approx(expected)
    assert [line.get_marker() for line in marks] == [
        style(at % 2).marker for at in range(len(marks))
    ]
    assert drawing.notes == ("Gene has no F1 for b: neither the gold nor the system has one.",)


def test_of_very_many_types_the_most_frequent_are_drawn() -> None:
    gold = tuple(Mention(((i, i + 1),), f"type {i % 30:02}") for i in range(40))
    for systems, shown in ((1, 12), (14, 2)):
        names = PictureLabels(names=tuple("abcdefghijklmn"[:systems]))
        drawing = f1_by_type(report_of(*[gold] * systems, gold=gold)["systems"], names)
        assert drawing.notes == (f"Of 30 types {shown}, the most frequent, are drawn.",)
        assert drawing.height < 20


def test_intervals_of_types_may_be_missing() -> None:
    report = report_of(PREDICTED)
    for row in report["systems"][0]["scores"]["rules"]["strict"]["types"].values():
        assert {"low", "high"} <= row.pop("f1_interval").keys()
    (note,) = f1_by_type(report["systems"], PictureLabels(names=("a",))).notes
    assert (
        note
        == "No interval for Disease, Chemical, Gene: the report was written without intervals of "
        "types."
    )
    (note,) = f1_by_type(
        report_of(PREDICTED, documents=1)["systems"], PictureLabels(names=("a",))
    ).notes
    assert note.startswith(
        "No interval for all types, Disease, Chemical, Gene: there is only one document"
    )


def test_pictures_side_by_side() -> None:
    report = report_of(PREDICTED, (), PREDICTED[:2])
    each = [reliability(one["calibration"]) for one in report["systems"]]
    both = side_by_side(list(zip("abc", each, strict=True)), key="how to read")
    assert both.notes[0].startswith("No picture of b: nothing was predicted")
    assert (both.width, both.height > each[0].height) == (2 * each[0].width, True)
    ElementTree.fromstring(both.picture().svg)
    assert side_by_side([("b", each[1])]).missing.startswith("b: nothing was predicted")
    assert side_by_side([("", each[1]), ("", each[1])]).missing == each[1].missing
