"""The study of coordinated names: what counts as one, its counts, and its tables."""

from __future__ import annotations

from pathlib import Path

from fascicle.core.document import Document, Link, Mention, Patch
from studies.coordination.measure import SOURCE, alone, kind_of, places
from studies.coordination.tables import concepts
from studies.coordination.tables import places as places_table

TEXT = "breast and ovarian cancer, hepatitis"
ONE, TWO = Link(id="1", curie="X:1"), Link(id="2", curie="X:2")


def test_what_a_gold_mention_is_counted_as() -> None:
    whole, last = ((0, 25),), ((27, 36),)
    kinds = [
        kind_of(Mention(spans, "Disease", links=links), TEXT)
        for spans, links in (
            (whole, (ONE, TWO)),
            (whole, (ONE,)),
            (last, (ONE, TWO)),
            (last, (ONE,)),
            (whole, ()),
        )
    ]
    assert kinds == ["coordinated", "single", "composite", "", ""]


def test_each_case_has_one_mention_without_its_concepts() -> None:
    gold = (
        Mention(((0, 25),), "Disease", links=(ONE, TWO)),
        Mention(((27, 36),), "Disease", links=(ONE,)),
    )
    ((kind, wanted, document),) = alone([Document(id="a", text=TEXT, mentions=gold)])
    assert (kind, wanted) == ("coordinated", {"X:1", "X:2"})
    assert document.mentions == (Mention(((0, 25),), "Disease", source=SOURCE),)


def test_what_is_added_is_compared_with_all_gold() -> None:
    class Step:
        def run(self, documents: list[Document]) -> list[Patch]:
            (document,) = documents
            assert [one.spans for one in document.mentions] == [((11, 25),)]
            spans = ((0, 6), (19, 25)), ((0, 3), (19, 25))
            return [Patch(add=tuple(Mention(one, "Disease", source=SOURCE) for one in spans))]

    gold = (
        Mention(((11, 25),), "Disease"),
        Mention(((0, 6), (19, 25)), "Disease"),
        Mention(((0, 6), (27, 36)), "Disease"),
    )
    row = places([Document(id="a", text=TEXT, mentions=gold)], Step())  # type: ignore[arg-type]
    assert {name: row[name] for name in ("discontinuous", "coordinated", "added", "right")} == {
        "discontinuous": 2,
        "coordinated": 2,
        "added": 2,
        "right": 1,
    }


def test_tables(tmp_path: Path) -> None:
    results = Path(__file__).resolve().parents[2] / "studies" / "results"
    assert len(concepts(results).splitlines()) == 2 + 2 * 3 * (3 + 2)
    assert len(places_table(results).splitlines()) == 2 + 2 + 1
    assert all("not run" in table(tmp_path) for table in (concepts, places_table))
