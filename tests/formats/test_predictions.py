"""Prediction files: JSON Lines and TSV, never the text."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Event, Mention
from fascicle.core.files.source import Source
from fascicle.errors import FormatError, InputError, OutputError
from fascicle.formats.outputs import WriteRequest, write_predictions
from fascicle.formats.predictions import (
    Prediction,
    json_line,
    make_prediction,
    read,
    text_hash,
    write_tsv,
)

EVENT = Event(step="seq", kind="loss", code="too-long", message="cut")
DOCUMENT = Document(
    id="1",
    text="Asthma, secret words",
    mentions=(
        Mention(((0, 6),), "Disease", attributes=(("names", "Asthma"),)),
        Mention(((0, 6),), "Disease", score=0.1 + 0.2, source="seq"),
        Mention(((0, 2), (4, 6)), "Disease", score=1.0, source="seq"),
    ),
    events=(EVENT,),
)


def _read(folder: Path, content: str, **options: str) -> list[Prediction]:
    path = folder / "p.tsv"
    path.write_bytes(content.encode())
    return list(read(Source(path=str(path)), **options))


def test_json_lines_hold_everything_but_the_text(tmp_path: Path) -> None:
    prediction = make_prediction(DOCUMENT)
    assert prediction.sha256 == text_hash(DOCUMENT.text)
    content = json_line(prediction).decode()
    assert "secret" not in content
    assert "Asthma" not in content
    assert _read(tmp_path, content) == [prediction]
    assert prediction.events == (EVENT,)


def test_one_source(tmp_path: Path) -> None:
    prediction = make_prediction(DOCUMENT, source="seq")
    stream = io.BytesIO()
    write_tsv([prediction], stream)
    content = stream.getvalue().decode()
    assert content == (
        "document\ttype\tstart\tend\tscore\n1\tDisease\t0;4\t2;6\t1.0\n1\tDisease\t0\t6\t0.30000000000000004\n"
    )
    (found,) = _read(tmp_path, content, mention_source="seq")
    assert found == Prediction(id="1", mentions=prediction.mentions)
    (default,) = _read(tmp_path, content)
    assert {m.source for m in default.mentions} == {"predictions"}


def test_another_name_for_the_source(tmp_path: Path) -> None:
    (found,) = _read(tmp_path, json_line(make_prediction(DOCUMENT)).decode(), mention_source="mine")
    assert [(m.spans, m.source) for m in found.mentions] == [
        (((0, 2), (4, 6)), "mine"),
        (((0, 6),), "mine"),
    ]


def test_what_tsv_cannot_hold() -> None:
    stream = io.BytesIO()
    with pytest.raises(InputError, match="from two sources"):
        write_tsv([make_prediction(DOCUMENT)], stream)
    mention = Mention(((0, 1),), "X")
    for wrong in ("a\tb", "a\nb", "a\rb", "a\0"):
        with pytest.raises(InputError, match=r"the document id .* write JSON Lines"):
            write_tsv([Prediction(id=wrong, mentions=(mention,))], stream)
        with pytest.raises(InputError, match=r"the type .* write JSON Lines"):
            write_tsv([Prediction(id="a", mentions=(Mention(((0, 1),), wrong),))], stream)


def test_files(tmp_path: Path) -> None:
    prediction = make_prediction(DOCUMENT, source="seq")
    for name in ("a.predictions.jsonl", "b.tsv", "c.tsv.gz"):
        write_predictions([prediction], WriteRequest(path=str(tmp_path / name)))
        (found,) = read(Source(path=str(tmp_path / name)), mention_source="seq")
        assert (found.id, [(m.type, m.spans, m.score) for m in found.mentions]) == (
            prediction.id,
            [(m.type, m.spans, m.score) for m in prediction.mentions],
        )
    with pytest.raises(OutputError, match="exists already"):
        write_predictions([prediction], WriteRequest(path=str(tmp_path / "a.predictions.jsonl")))
    bad = Prediction(id="a\tb", mentions=prediction.mentions)
    with pytest.raises(InputError, match="write JSON Lines"):
        write_predictions([prediction, bad], WriteRequest(path=str(tmp_path / "d.tsv")))
    assert not (tmp_path / "d.tsv").exists()


HEADER = "document\ttype\tstart\tend\tscore\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tb\n", r"p\.tsv:1: not a prediction file; .*header document type"),
        (HEADER + "1\tX\t0\n", r"p\.tsv:2: columns: 3; allowed"),
        (HEADER + "1\tX\t0\t2\t0.5\t0\t4\t0.5\n", r"p\.tsv:2: columns: 8; allowed"),
        (HEADER + "1\tX\t0\tb\t\n", r"p\.tsv:2: start '0', end 'b'"),
        (HEADER + "1\tX\t0\t1_0\t\n", "end '1_0' .*is not an integer"),
        (HEADER + "1\tX\t0\t\u0663\t\n", "is not an integer"),
        (HEADER + "1\tX\t0\t2\t0.1_0\n", "is not a number"),
        (HEADER + "1\tX\t0;4\t2\t\n", "2 starts and 1 end"),
        (HEADER + "1\tX\t4\t2\t\n", "make no mention"),
        (HEADER + "1\tX\t0\t2\t1.5\n", "probability"),
        (HEADER + "1\tX\t0\t2\t98\n", "divide percentages by 100"),
        (HEADER + "\tX\t0\t2\t\n", r"p\.tsv:2: the document id is empty"),
        ("document\tstart\tend\n1\t0\t2\n", r"p\.tsv:1: not a prediction file"),
        ("document\ttype\tstart\tend\tend\n1\tX\t0\t2\t3\n", r"p\.tsv:1: not a prediction file"),
        ("end\tstart\ttype\tdocument\n2\t0\tX\n", r"p\.tsv:2: columns: 3; the header has 4"),
        (
            "end\tstart\ttype\tdocument\n2\t0\tX\t1\n2\t0\n",
            r"p\.tsv:3: columns: 2; the header has 4",
        ),
        (HEADER + "1\tX\t0\t2\tnan\n", "probability"),
        (HEADER + "1\tX\t0\t2\thigh\n", "make no mention"),
        (HEADER + "1\t\t0\t2\t\n", "empty type"),
        (HEADER + "1\tX\t0\t2\t\n1\tX\t0\t2\t\n", "in document '1', .*occurs twice"),
        (HEADER + "1\tX\t0\t2\t\n2\tX\t0\t2\t\n1\tX\t3\t4\t\n", "document '1' occurs twice"),
        ('{"id": "1"}\n', r"p\.tsv:1: not a prediction"),
        ('{"id": ' + "[" * 20_000, r"p\.tsv:1: not a prediction"),
        ('{"fascicle_predictions": 9, "id": "1"}\n', "schema 9; this release reads schema 1"),
        ('{"fascicle_predictions": 1, "id": "1", "text": "a"}\n', "unknown field"),
        (
            '{"fascicle_predictions": 1, "id": "1"}\n{"fascicle_predictions": 1, "id": "1"}\n',
            "occurs twice",
        ),
    ],
)
def test_wrong_files(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        _read(tmp_path, content)


@given(st.permutations(["document", "type", "start", "end", "score", "words", ""]), st.booleans())
def test_columns_in_any_order_beside_others(names: list[str], scored: bool) -> None:
    rows = [("1", "X", "3", "5", "0.5"), ("1", "Y", "0;4", "2;6", ""), ("2", "X", "0", "2", "1")]
    names = names if scored else [name for name in names if name != "score"]
    cells = [dict(zip(HEADER.split(), row, strict=True)) for row in rows]
    mixed = [names, *([row.get(name, "aspirin") for name in names] for row in cells)]
    plain = [
        [row[name] if name != "score" or scored else "" for name in HEADER.split()] for row in cells
    ]
    with tempfile.TemporaryDirectory() as folder:
        found = _read(Path(folder), "".join("\t".join(row) + "\n" for row in mixed))
        assert found == _read(
            Path(folder), HEADER + "".join("\t".join(row) + "\n" for row in plain)
        )


def test_empty_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is empty"):
        _read(tmp_path, "")
    assert _read(tmp_path, HEADER) == []
    assert _read(tmp_path, HEADER.replace("\n", "\r\n") + "1\tX\t0\t2\r\n")[0].mentions == (
        Mention(((0, 2),), "X", source="predictions"),
    )
