"""Marks below a text: its words stay, mentions that touch have their own lines, parts are
numbered.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.html_reader import HtmlReader, lines, without_tags
from tests.evaluation.strategies import TEXT, fragments

from fascicle.core.marks import Mark, mark_mentions
from fascicle.core.mention import fragments_overlap

MARKS = st.lists(
    st.tuples(fragments(), st.sampled_from(("A", "B")), st.sampled_from((None, True, False))),
    max_size=7,
)


@given(MARKS)
def test_the_words_stay_as_they_are(
    rows: list[tuple[tuple[tuple[int, int], ...], str, bool | None]],
) -> None:
    made = mark_mentions(
        TEXT, [Mark(spans=spans, type=type_, right=right) for spans, type_, right in rows]
    )
    assert without_tags(made) == TEXT
    assert made.count('class="tag"') == sum(len(spans) for spans, _, _ in rows)
    assert made.count("✓") == sum(len(spans) for spans, _, right in rows if right)


@given(MARKS)
def test_every_character_has_the_lines_of_its_mentions(
    rows: list[tuple[tuple[tuple[int, int], ...], str, bool | None]],
) -> None:
    found = lines(mark_mentions(TEXT, [Mark(spans=spans, type=type_) for spans, type_, _ in rows]))
    for at in range(len(TEXT)):
        lanes = [lane for start, end, _, lane in found if start <= at < end]
        assert len(set(lanes)) == len(lanes), "two lines on one another"
        solid = sum(kind == "line" for start, end, kind, _ in found if start <= at < end)
        assert solid == sum(any(a <= at < b for a, b in spans) for spans, _, _ in rows)
        joined = sum(kind == "gap" for start, end, kind, _ in found if start <= at < end)
        inside = [spans for spans, _, _ in rows if spans[0][0] <= at < spans[-1][1]]
        assert joined == len(inside) - solid


def test_an_inner_mention_is_nearer_to_the_text() -> None:
    inner, outer = Mark(spans=((0, 4),), type="A"), Mark(spans=((0, 9),), type="B")
    assert fragments_overlap(inner.spans, outer.spans)
    assert [row for row in lines(mark_mentions(TEXT, [outer, inner])) if row[0] == 0] == [
        (0, 4, "line", 0),
        (0, 4, "line", 1),
    ]


def test_parts_are_numbered_and_what_lies_outside_is_cut_off() -> None:
    mark = Mark(spans=((-7, -3), (0, 4), (10, 900)), type="<A>", right=False, focus="mention")
    made = mark_mentions("IL-2 gene of T", [mark, Mark(spans=((50, 60),), type="far")])
    told = HtmlReader(made).text
    assert "<A> #1, part 2 of 3\u00a0✗" in told
    assert "<A> #1, part 3 of 3\u00a0✗" in told
    assert "part 1" not in told
    assert "far" not in told
    assert made.count('class="line mention"') == 2
    # below the words between the parts, and below the tag of the first of them
    assert made.count('class="gap"') == 2
