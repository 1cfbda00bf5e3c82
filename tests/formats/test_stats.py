"""What is in a corpus."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Link, Mention, Relation, unique
from fascicle.core.mention import overlaps
from fascicle.formats import ReadReport, read
from fascicle.formats.stats import CorpusStats, corpus_stats, format_table, shared_text_notes

DOCUMENT = Document(
    id="a",
    text="the IL-2 gene promoter binds it",
    words=((0, 3), (4, 8), (9, 13), (14, 22), (23, 28), (29, 31)),
    sentences=((0, 31),),
    mentions=(
        Mention(((4, 22),), "DNA", links=(Link(id="1"),)),
        Mention(((4, 13),), "DNA"),
        Mention(((4, 8),), "protein"),
        Mention(((9, 22),), "RNA"),
        Mention(((9, 22),), "DNA"),
        Mention(((4, 8), (29, 31)), "protein"),
    ),
)


def test_counts() -> None:
    stats = corpus_stats([DOCUMENT, Document(id="b", text="")])
    assert (stats.documents, stats.empty_documents, stats.sentences, stats.words) == (2, 1, 1, 6)
    assert stats.types == {"DNA": 3, "RNA": 1, "protein": 2}
    assert (stats.mentions, stats.discontinuous, stats.linked) == (6, 1, 1)
    assert stats.nested == 4  # all but the longest and the discontinuous one
    assert stats.inner_same_type == 3
    assert stats.same_span == 2
    assert stats.crossing == 5
    assert stats.overlapping == 6
    assert (stats.longest_sentence_words, stats.longest_sentence) == (6, 31)
    assert (stats.longest_mention_words, stats.longest_mention) == (3, 27)


def test_relations_by_type() -> None:
    kinds = ("CID", "Bind", "CID", "")
    document = DOCUMENT.having(relations=tuple(Relation(type=kind) for kind in kinds))
    stats = corpus_stats([document, document, DOCUMENT])
    assert stats.as_dict()["relations"] == {"CID": 4, "": 2, "Bind": 2}
    rows = [tuple(row.rsplit("  ", 1)) for row in format_table(stats).splitlines()]
    table = {name.rstrip(): number.strip() for name, number in rows}
    assert table["relations"] == "8"
    assert (table["  CID"], table["  Bind"], table["  without a type"]) == ("4", "2", "2")
    assert "relations" not in format_table(corpus_stats([DOCUMENT]))


def test_a_mention_without_an_entry_has_no_concept() -> None:
    nil = Link(id="", nil=True)
    links = ((nil,), (Link(id="D1"), nil), ())
    mentions = tuple(Mention(((at, at + 1),), "X", links=one) for at, one in enumerate(links))
    assert corpus_stats([Document(id="a", text="abc", mentions=mentions)]).linked == 1


def test_table_and_json(tmp_path: Path) -> None:
    path = tmp_path / "a.iob"
    path.write_text("a B-X\n\nb I-X\nc B-X\nd I-X\n")
    report = ReadReport()
    stats = corpus_stats(read(path, report=report), report)
    values = json.loads(json.dumps(stats.as_dict()))
    assert values["schemes"] == {str(path): "IOB2"}
    assert values["repairs"] == 1
    assert values["types"] == {"X": 3}
    table = format_table(stats)
    assert "invalid tag sequences mended" in table
    assert len({len(line) for line in table.splitlines() if line[-1].isdigit()}) == 1
    assert "documents" in format_table(CorpusStats())
    assert "66.7% of the mentions" in format_table(corpus_stats([DOCUMENT]))


_SPANS = st.tuples(st.integers(0, 12), st.integers(1, 5)).map(
    lambda pair: (pair[0], pair[0] + pair[1])
)


@given(st.lists(st.tuples(_SPANS, st.sampled_from("XY")), max_size=9))
def test_relations_against_all_pairs(found: list[tuple[tuple[int, int], str]]) -> None:
    mentions, _ = unique(Mention((span,), kind) for span, kind in found)
    stats = corpus_stats([Document(id="a", text="x" * 20, mentions=mentions)])

    def count(holds: object) -> int:
        return sum(any(holds(a, b) for b in mentions if a is not b) for a in mentions)  # type: ignore[operator]

    def inside(a: Mention, b: Mention) -> bool:
        return b.start <= a.start and a.end <= b.end and a.spans != b.spans

    assert stats.nested == count(inside)
    assert stats.inner_same_type == count(lambda a, b: inside(a, b) and a.type == b.type)
    assert stats.same_span == count(lambda a, b: a.spans == b.spans)
    assert stats.crossing == count(
        lambda a, b: (
            overlaps(a.spans[0], b.spans[0])
            and a.spans != b.spans
            and not (inside(a, b) or inside(b, a))
        )
    )
    assert stats.overlapping == count(lambda a, b: overlaps(a.spans[0], b.spans[0]))


def test_a_type_of_any_length_makes_no_wide_table() -> None:
    mentions = (Mention(((0, 1),), "X" * 100_000), Mention(((0, 1),), "Disease"))
    stats = corpus_stats([Document(id="1", text="a", mentions=mentions)])
    table = format_table(stats)
    assert max(map(len, table.splitlines())) < 120
    assert "…" in table
    assert "X" * 100_000 in stats.as_dict()["types"]


def test_shared_texts_are_counted_once_for_the_part_that_has_them_first() -> None:
    parts = {"train": ["a", "b", "b", ""], "dev": ["b", "c", ""], "test": ["c", "b", "d"]}
    assert list(shared_text_notes(parts)) == [
        "1 of 3 texts of dev are in train too, so scores on dev are too high",
        "1 of 3 texts of test are in dev too, so scores on test are too high",
        "1 of 3 texts of test are in train too, so scores on test are too high",
    ]
    assert not list(shared_text_notes({"train": ["a"], "dev": ["A"]}))
