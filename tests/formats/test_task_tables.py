"""Tables that shared tasks take: their columns, what they lose, and that the reader of such
tables reads them back.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.cli import main
from fascicle.core.document import Document
from fascicle.core.mention import Mention
from fascicle.errors import InputError
from fascicle.formats import WriteReport, read, write

TASKS = {
    "livingner": "filename\tmark\tlabel\toff0\toff1\tspan",
    "socialdisner": "tweets_id\tbegin\tend\ttype\textraction",
}
TEXT = "😀 Tengo gripe\ny asma."


def document(text: str = TEXT, *mentions: Mention, name: str = "caso_1") -> Document:
    return Document(id=name, text=text, mentions=mentions)


def test_the_columns_of_each_task(tmp_path: Path) -> None:
    said = document(TEXT, Mention(((8, 13),), "ENFERMEDAD"), Mention(((8, 20),), "ENFERMEDAD"))
    write(tmp_path / "a.livingner.tsv", [said])
    write(tmp_path / "a.socialdisner.tsv", [said])
    assert (tmp_path / "a.livingner.tsv").read_text().splitlines() == [
        TASKS["livingner"],
        "caso_1\tT1\tENFERMEDAD\t8\t20\tgripe y asma",
        "caso_1\tT2\tENFERMEDAD\t8\t13\tgripe",
    ]
    assert (tmp_path / "a.socialdisner.tsv").read_text().splitlines() == [
        TASKS["socialdisner"],
        "caso_1\t8\t20\tENFERMEDAD\tgripe y asma",
        "caso_1\t8\t13\tENFERMEDAD\tgripe",
    ]


@pytest.mark.parametrize("name", TASKS)
def test_fragments_and_scores_are_lost_and_counted(tmp_path: Path, name: str) -> None:
    said = document(
        TEXT,
        Mention(((8, 13), (16, 20)), "ENFERMEDAD"),
        Mention(((16, 20),), "ENFERMEDAD", score=0.5),
    )
    report = WriteReport()
    write(tmp_path / "a.tsv", [said], format=name, report=report)
    assert len((tmp_path / "a.tsv").read_text().splitlines()) == 2
    assert report.losses == {"discontinuous": 1, "scores": 1}


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("bad", ["a\tb", "", "a\nb"])
def test_an_id_or_a_type_that_a_row_cannot_hold(tmp_path: Path, name: str, bad: str) -> None:
    for said in (
        document(TEXT, Mention(((0, 1),), "X"), name=bad),
        document(TEXT, Mention(((0, 1),), bad or "a\tb")),
    ):
        with pytest.raises((InputError, ValueError)):
            write(tmp_path / "a.tsv", [said], format=name)
        assert not (tmp_path / "a.tsv").exists()


def test_predictions_of_a_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "in.jsonl", [document(TEXT, Mention(((8, 13),), "ENFERMEDAD"))])
    assert (
        main(
            [
                "corpus",
                "convert",
                str(tmp_path / "in.jsonl"),
                "--format",
                "livingner",
                "-o",
                str(tmp_path / "o.tsv"),
            ]
        )
        == 0
    )
    assert (tmp_path / "o.tsv").read_text().startswith(TASKS["livingner"])
    assert (
        main(
            [
                "corpus",
                "convert",
                str(tmp_path / "o.tsv"),
                "-f",
                "livingner",
                "-o",
                str(tmp_path / "b.jsonl"),
            ]
        )
        == 2
    )
    capfd.readouterr()


SPANS = st.lists(
    st.tuples(
        st.integers(0, len(TEXT) - 1), st.integers(1, 6), st.sampled_from(("SPECIES", "HUMAN"))
    ),
    unique=True,
)


@given(SPANS, st.sampled_from(sorted(TASKS)))
def test_the_reader_of_tables_of_offsets_reads_it_back(
    tmp_path_factory: pytest.TempPathFactory, spans: list[tuple[int, int, str]], name: str
) -> None:
    folder = tmp_path_factory.mktemp("task")
    mentions = {(a, min(a + size, len(TEXT)), kind) for a, size, kind in spans}
    said = document(TEXT, *(Mention(((a, b),), kind) for a, b, kind in sorted(mentions)))
    write(folder / "table.tsv", [said], format=name)
    (folder / "caso_1.txt").write_text(TEXT, encoding="utf-8")
    if not mentions:
        return  # a table without a row names no text
    (found,) = read(folder, format="offsets")
    assert {(m.start, m.end, m.type) for m in found.mentions} == mentions
