"""Pictures of distributions: numbers against libraries and loops, and the drawn points against
the given ones.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from fascicle.cli import main
from fascicle.errors import InputError
from fascicle.evaluation.reports.plots.canvas import MOST_VECTORS, STYLES, open_sheet, svg
from fascicle.formats.distributions import DistributionsHeader, MentionDistribution, write
from studies.plot import main as plot
from studies.span_typer.distributions_pictures import (
    Distributions,
    components,
    density,
    draw_pca,
    draw_violins,
    draw_volcano,
    load_distributions,
    ratios,
)


def made(count: int, *, types: int = 3, seed: int = 0) -> Distributions:
    chance = np.random.default_rng(seed)
    numbers = chance.dirichlet(np.full(1 + types, 0.3), size=count)
    gold = chance.integers(0, types, count)
    return Distributions(
        path="made.jsonl",
        header=DistributionsHeader(
            model="m",
            family="crf",
            definition="tag-path",
            types=tuple(f"T{i}" for i in range(types)),
        ),
        numbers=numbers,
        gold=gold,
        found=numbers[np.arange(count), 1 + gold] > 0.5,
        unreachable=Counter(),
    )


@given(seed=st.integers(0, 10**6), count=st.integers(4, 60), classes=st.integers(3, 8))
def test_components_are_those_of_sklearn(seed: int, count: int, classes: int) -> None:
    vectors = np.random.default_rng(seed).dirichlet(np.full(classes, 0.5), size=count)
    oracle = PCA(n_components=2, svd_solver="full").fit(vectors)
    found = components(vectors)
    np.testing.assert_allclose(np.abs(found.points), np.abs(oracle.transform(vectors)), atol=1e-8)
    np.testing.assert_allclose(
        np.abs(found.corners), np.abs(oracle.transform(np.eye(classes))), atol=1e-8
    )
    np.testing.assert_allclose(found.explained, oracle.explained_variance_ratio_, atol=1e-8)
    np.testing.assert_array_equal(components(vectors.copy()).points, found.points)


@pytest.mark.parametrize(
    "vectors",
    [
        np.full((9, 3), 1 / 3),
        np.array([[0.5, 0.5, 0.0]]),
        np.array([[x, 1 - x] for x in (0.1, 0.5, 0.9)]),
    ],
)
def test_vectors_without_two_directions_are_refused(vectors: np.ndarray) -> None:  # type: ignore[type-arg]
    with pytest.raises(InputError, match="two directions"):
        components(vectors)


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_a_density_loses_nothing_at_the_borders(values: list[float]) -> None:
    at = np.linspace(0, 1, 2001)
    found = density(np.array(values), at)
    assert np.trapezoid(found, at) == pytest.approx(1.0, abs=1e-3)

    def kernel(x: float, v: float) -> float:
        return math.exp(-0.5 * ((x - v) / 0.02) ** 2) / (0.02 * math.sqrt(2 * math.pi))

    for x in (0.0, 0.31, 0.995):
        expected = sum(kernel(x, v) + kernel(x, -v) + kernel(x, 2 - v) for v in values) / len(
            values
        )
        # Values are counted in bins of a thousandth: at most half of one away, times the steepest
        # slope of the kernel and, near a border, of its image.
        slope = math.exp(-0.5) / (0.02**2 * math.sqrt(2 * math.pi))
        assert density(np.array(values), np.array([x]))[0] == pytest.approx(
            expected, abs=2 * 0.0005 * slope * 1.01
        )


def test_ratios_against_loops() -> None:
    data = made(50)
    data.numbers[3] = [1.0, 0.0, 0.0, 0.0]
    found = ratios(data.of_classes, data.gold + 1)
    rows = []
    for row, gold in zip(data.numbers.tolist(), data.gold.tolist(), strict=True):
        right, mean = max(row[1 + gold], 1e-12), sum(row) / 4
        spread = sum((p - mean) ** 2 for p in row) / 4 / right
        rows += [
            (math.log2(max(p, 1e-12) / right), spread, rival, 1 + gold)
            for rival, p in enumerate(row)
            if rival != 1 + gold
        ]
    table = np.column_stack([found.ratio, found.spread, found.rival, found.gold])
    np.testing.assert_allclose(table, rows, rtol=1e-9, atol=1e-9)


def test_the_points_are_those_of_the_file(tmp_path: Path) -> None:
    data = made(40)
    entries = [
        MentionDistribution(
            document=str(i),
            spans=((i, i + 1),),
            type=f"T{gold}",
            found=found,
            probabilities=tuple(row),
        )
        for i, (row, gold, found) in enumerate(
            zip(data.numbers.tolist(), data.gold.tolist(), data.found.tolist(), strict=True)
        )
    ]
    lost = MentionDistribution(
        document="x", spans=((0, 1), (2, 3)), type="Other", found=False, unreachable="discontinuous"
    )
    write(tmp_path / "d.jsonl", data.header, [lost, *entries])
    read = load_distributions(str(tmp_path / "d.jsonl"))
    np.testing.assert_allclose(read.numbers, data.numbers, rtol=5e-6)
    np.testing.assert_array_equal(read.gold, data.gold)
    np.testing.assert_array_equal(read.found, data.found)
    assert "1 of 41" in read.note
    assert "discontinuous 1" in read.note
    assert data.note == ""
    expected = components(read.numbers).points
    with open_sheet() as figure:
        draw_pca(figure, read)
        (axes,) = figure.axes
        marks = list(axes.collections)
    groups = [(kind, right) for kind in range(3) for right in (True, False)]
    for drawn, (kind, right) in zip(marks, groups, strict=False):
        rows = (read.gold == kind) & (read.found == right)
        np.testing.assert_array_equal(np.asarray(drawn.get_offsets()), expected[rows])
        assert (len(drawn.get_facecolor()) > 0) is right  # a hollow mark was not found


def test_every_point_of_a_volcano_is_drawn_once() -> None:
    data = made(30)
    found = ratios(data.of_classes, data.gold + 1)
    with open_sheet() as figure:
        draw_volcano(figure, data)
        (axes,) = figure.axes
        drawn = np.concatenate([np.asarray(c.get_offsets()) for c in axes.collections])
        assert axes.get_yscale() == "log"
    given = np.column_stack([found.ratio, found.spread])
    np.testing.assert_array_equal(drawn[np.lexsort(drawn.T)], given[np.lexsort(given.T)])


def test_a_model_without_none_has_no_such_class() -> None:
    data = made(30)
    data.numbers[:, 0] = 0.0
    assert data.classes == ("T0", "T1", "T2")
    np.testing.assert_array_equal(data.of_classes, data.numbers[:, 1:])
    found = ratios(data.numbers[:, 1:], data.gold)
    with open_sheet() as figure:
        draw_volcano(figure, data)
        (axes,) = figure.axes
        drawn = np.concatenate([np.asarray(c.get_offsets()) for c in axes.collections])
    assert sorted(drawn[:, 0]) == sorted(found.ratio)
    assert len(drawn) == 30 * 2
    with open_sheet() as figure:
        draw_pca(figure, data)
        assert not any("none" in text.get_text() for text in figure.axes[0].texts)


def test_violins_show_medians_and_counts() -> None:
    data = made(600)
    with open_sheet() as figure:
        draw_violins(figure, data)
        (axes,) = figure.axes
        labels = [label.get_text() for label in axes.get_xticklabels()]
        lines = [
            np.asarray(line.get_ydata(), dtype=float)
            for line in axes.lines
            if line.get_color() == "black"
        ]
    expected, texts = [], []
    for kind in range(3):
        sides = [
            data.of_gold[(data.gold == kind) & (data.found == right)] for right in (True, False)
        ]
        expected += [float(np.median(side)) for side in sides]
        texts.append(f"T{kind}\n{len(sides[0])} | {len(sides[1])}")
    assert labels == texts
    assert [line[0] for line in lines] == pytest.approx(expected)


@pytest.mark.parametrize(("types", "length"), [(3, 5), (6, 12), (10, 12), (20, 4), (30, 20)])
def test_names_below_violins_do_not_cover_each_other(types: int, length: int) -> None:
    data = made(600, types=types)
    named = tuple(f"{name:W<{length}}" for name in data.header.types)
    data = replace(data, header=msgspec.structs.replace(data.header, types=named))
    with open_sheet(width=12.5, height=8.8) as figure:
        part = figure.subfigures(2, 2)[1][0]
        draw_violins(part, data)
        figure.canvas.draw()
        boxes = [label.get_window_extent() for label in part.axes[0].get_xticklabels()]
        assert all(one.x1 <= other.x0 for one, other in pairwise(boxes))


def test_of_many_classes_the_corners_farthest_out_are_named() -> None:
    data = made(200, types=20)
    with open_sheet() as figure:
        draw_pca(figure, data)
        named = {text.get_text().partition(":")[0] for text in figure.axes[0].texts}
    corners = components(data.of_classes).corners
    far = np.linalg.norm(corners - corners.mean(axis=0), axis=1)
    assert named == {data.classes[at] for at in np.argsort(-far)[:12]}


def test_few_mentions_are_points_and_not_a_density() -> None:
    data = made(8, types=2)
    with open_sheet() as figure:
        draw_violins(figure, data)
        (axes,) = figure.axes
        points = np.concatenate(
            [np.asarray(c.get_offsets())[:, 1] for c in axes.collections if len(c.get_offsets())]
        )
    assert sorted(p for p in points.tolist() if p > 0)[-8:] == pytest.approx(
        sorted(data.of_gold.tolist())
    )


def test_many_points_are_pixels_and_few_are_not() -> None:
    for count, pixels in ((MOST_VECTORS, False), (MOST_VECTORS + 1, True)):
        with open_sheet() as figure:
            draw_pca(figure, made(count))
            assert ("<image" in svg(figure)) is pixels


def test_more_types_than_looks_share_the_last_one() -> None:
    data = made(300, types=12)
    with open_sheet() as figure:
        draw_pca(figure, data)
        texts = [text.get_text() for text in figure.legends[0].get_texts()]
    types = [text for text in texts if text.startswith("T") or "other" in text]
    assert len(types) == len(STYLES)
    assert types[-1].startswith(f"{12 - len(STYLES) + 1} other types")
    assert sum(int(text.split("(")[1].rstrip(")")) for text in types) == 300


def test_types_of_any_name_are_drawn_as_they_are() -> None:
    names = ("_type", "$\\frac{$", "a$b$")
    data = made(60)
    data = replace(data, header=msgspec.structs.replace(data.header, types=names))
    with open_sheet() as figure:
        draw_pca(figure, data)
        svg(figure)
        texts = [
            text.get_text().strip().rpartition(" (")[0] for text in figure.legends[0].get_texts()
        ]
        corners = [text.get_text().partition(":")[0] for text in figure.axes[0].texts]
    assert texts[:3] == list(names)
    assert sorted(corners) == sorted(["none", *names])
    with open_sheet() as figure:
        draw_violins(figure, data)
        svg(figure)
        ticks = [label.get_text().partition("\n")[0] for label in figure.axes[0].get_xticklabels()]
    assert ticks == list(names)


def test_the_numbers_of_a_logarithmic_axis_are_plain_text() -> None:
    with open_sheet() as figure:
        draw_volcano(figure, made(300))
        svg(figure)
        axis = figure.axes[0].yaxis
        texts = [
            label.get_text()
            for which in (False, True)
            for label in axis.get_ticklabels(minor=which)
        ]
    told = [float(text.replace("\u2212", "-")) for text in texts if text]
    assert len(told) > 2


def test_what_cannot_be_drawn_is_said(tmp_path: Path) -> None:
    header = DistributionsHeader(model="m", family="span", definition="softmax", types=("A",))
    write(tmp_path / "none.jsonl", header, [])
    with pytest.raises(InputError, match="it has no mention"):
        load_distributions(str(tmp_path / "none.jsonl"))
    lost = MentionDistribution(
        document="1", spans=((0, 1),), type="B", found=False, unreachable="unknown-type"
    )
    write(tmp_path / "lost.jsonl", header, [lost])
    with pytest.raises(InputError, match="none of its 1 mention"):
        load_distributions(str(tmp_path / "lost.jsonl"))
    with pytest.raises(InputError, match="50 types"), open_sheet() as figure:
        draw_violins(figure, made(100, types=50))


def test_nothing_is_cut_off_at_the_edge_of_the_sheet(tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    gold = Path(__file__).parents[2] / "examples" / "report" / "gold.pubtator"
    said, picture = tmp_path / "said.jsonl", tmp_path / "pca.png"
    assert (
        main(
            [
                "evaluate",
                str(gold),
                "--model",
                "biomed",
                "--distributions",
                str(said),
                "--threads",
                "1",
            ]
        )
        == 0
    )
    assert plot(["pca", str(said), "-o", str(picture)]) == 0
    pixels = image.imread(picture)[..., :3].min(axis=2)
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
        assert edge.min() > 0.9


@pytest.mark.parametrize("kind", ["pca", "violin", "volcano"])
def test_a_picture_twice_has_the_same_bytes(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    header = DistributionsHeader(model="m", family="crf", definition="tag-path", types=("A", "B"))
    rows = [(0.1, 0.8, 0.1), (0.7, 0.2, 0.1), (0.0, 0.1, 0.9), (0.2, 0.3, 0.5)]
    entries = [
        MentionDistribution(
            document=str(at), spans=((0, 1),), type="AB"[at > 1], found=at != 1, probabilities=row
        )
        for at, row in enumerate(rows)
    ]
    lost = MentionDistribution(
        document="9", spans=((0, 1),), type="A", found=False, unreachable="too-wide"
    )
    write(tmp_path / "d.jsonl", header, [*entries, lost])
    for name in ("a.svg", "b.svg"):
        assert plot([kind, str(tmp_path / "d.jsonl"), "-o", str(tmp_path / name)]) == 0
        assert "1 of 5 mentions" in capsys.readouterr().err
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert plot([kind, str(tmp_path / "nothing"), "-o", str(tmp_path / "c.svg")]) == 2


def test_one_type_can_be_drawn_as_a_violin_and_not_in_two_directions(tmp_path: Path) -> None:
    header = DistributionsHeader(model="m", family="span", definition="softmax", types=("A",))
    entries = [
        MentionDistribution(
            document="1", spans=((0, 1),), type="A", found=p > 0.5, probabilities=(1 - p, p)
        )
        for p in (0.2, 0.9)
    ]
    write(tmp_path / "one.jsonl", header, entries)
    for kind, code in (("violin", 0), ("volcano", 0), ("pca", 2)):
        assert (
            plot([kind, str(tmp_path / "one.jsonl"), "-o", str(tmp_path / f"{kind}.svg")]) == code
        )
