"""The study of abbreviations: its records, its baseline, and predictions of sentences put back
into abstracts.
"""

from __future__ import annotations

import gzip
from pathlib import Path

from fascicle.core.document import Document, Mention
from studies.abbreviations.finder import plain, records, scored
from studies.abbreviations.measure import _moved, _places
from studies.abbreviations.tables import ablation, finder, rules
from studies.abstracts import abstracts_of


def test_records_and_their_scores(tmp_path: Path) -> None:
    content = (
        "12\nA title.\nThe heart rate (HR) rose.\n  HR|heart  rate\n\n13\nNo "
        "pair.\n\n12\nAgain.\n  AB|a b\n"
    )
    (tmp_path / "records.gz").write_bytes(gzip.compress(content.encode("latin-1")))
    found = list(records(tmp_path / "records.gz"))
    assert [(one.id, len(one.lines), one.pairs) for one in found] == [
        ("12", 2, {("HR", "heart rate")}),
        ("13", 1, set()),
        ("12", 1, {("AB", "a b")}),
    ]
    counts = scored(found, plain).counts
    assert (counts.tp, counts.fp, counts.fn) == (1, 0, 1)


def test_mentions_of_sentences_move_to_their_place_in_the_abstract() -> None:
    abstract = Document(id="a", text="Beta-cells (BC) died.\nBC lived.")
    sentences = [
        Document(id="1", text="Beta - cells ( BC ) died ."),
        Document(id="2", text="BC lived ."),
    ]
    of = abstracts_of(sentences, [abstract])
    places = dict(_places(sentences, {"a": abstract.text}, of))
    given = {
        "1": (Mention(((0, 12),), "X"), Mention(((15, 17),), "X")),
        "2": (Mention(((0, 2),), "X"),),
    }
    moved = _moved(given, places, of)
    assert [mention.text_in(abstract.text) for mention in moved["a"]] == ["Beta-cells", "BC", "BC"]
    assert moved["a"][2].start == 22


def test_tables_have_a_row_for_each_system(tmp_path: Path) -> None:
    results = Path(__file__).resolve().parents[2] / "studies" / "results"
    lines = rules(results).splitlines()
    assert len(lines) == len(ablation(results).splitlines()) == 2 + 17
    assert all(line.count("|") == lines[0].count("|") for line in lines)
    assert len(finder(results).splitlines()) == 2 + 4
    assert "not run" in finder(tmp_path)
