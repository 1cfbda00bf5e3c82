"""Tables of documents and mentions in Parquet."""

from __future__ import annotations

import tempfile
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fascicle
from fascicle.core.document import Document, Link, Mention, Relation, Section, unique
from fascicle.errors import (
    FormatError,
    InputError,
    LossError,
    MissingExtraError,
    OutputError,
    UsageError,
)
from fascicle.formats import ReadReport, detect, read, write
from fascicle.formats.outputs import WriteRequest, write_documents
from fascicle.formats.report import FailedDocuments
from fascicle.formats.sources import input_state, source_sha256

LINK = Link(
    id="D1",
    ontology="MESH",
    name="asthma",
    score=0.5,
    tier="exact",
    curie="MESH:D1",
    same=("DOID:2841",),
)
DOCUMENTS = [
    Document(
        id="a",
        text="Asthma and β\0rash",
        sections=(Section(0, 6, "title"), Section(6, 10, "body", (("page", "3"), ("page", "")))),
        sentences=((0, 10),),
        words=(),
        abbreviations=(((0, 1), (0, 6)),),
        mentions=(
            Mention(
                ((0, 6),), "Disease", score=0.25, source="m", links=(Link(id="", nil=True), LINK)
            ),
            Mention(((0, 2), (11, 12)), "X", attributes=(("a", ""), ("a", "b"))),
        ),
        relations=(
            Relation(
                type="causes",
                arguments=(
                    ("from", ("m", "Disease", ((0, 6),))),
                    ("", ("gold", "X", ((0, 2), (11, 12)))),
                ),
                attributes=(("novel", "No"), ("novel", "")),
            ),
            Relation(type="", attributes=(("entity1", "D1"),)),
        ),
        meta={"year": "1999"},
    ),
    Document(id="b", text=""),
    Document(id="c", text="x", mentions=(Mention(((0, 1),), "X"),)),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pytest.importorskip("pyarrow")
    path = tmp_path / "out.parquet"
    assert not write(path, DOCUMENTS, strict=True).losses
    return path


def test_what_is_written_is_read(folder: Path) -> None:
    assert detect(str(folder)) == "parquet"
    assert list(read(folder)) == DOCUMENTS


def test_the_table_of_mentions(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = parquet.read_table(folder / "mentions.parquet").to_pylist()
    columns = ("document", "type", "start", "end", "text", "score", "source", "concept")
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("a", "X", 0, 12, "As β", None, "gold", None),
        ("a", "Disease", 0, 6, "Asthma", 0.25, "m", "MESH:D1"),
        ("c", "X", 0, 1, "x", None, "gold", None),
    ]
    assert parquet.read_table(folder / "__documents__/documents.parquet")[
        "document"
    ].to_pylist() == ["a", "b", "c"]


def test_the_table_of_relations(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(folder / "__documents__/relations.parquet")
    first, second = table.to_pylist()
    names = ("role", "type", "text", "concept", "source")
    assert (first["document"], first["type"]) == ("a", "causes")
    assert [tuple(end[name] for name in names) for end in first["ends"]] == [
        ("from", "Disease", "Asthma", "MESH:D1", "m"),
        ("", "X", "As β", None, "gold"),
    ]
    assert first["ends"][1]["spans"] == [{"start": 0, "end": 2}, {"start": 11, "end": 12}]
    assert second["ends"] == []
    assert second["attributes"] == [{"name": "entity1", "value": "D1"}]
    assert fascicle.to_arrow(DOCUMENTS, relations=True).equals(table)
    assert fascicle.to_arrow(DOCUMENTS[1:], relations=True).schema == table.schema


def test_a_relation_whose_end_is_gone_is_counted(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    document = DOCUMENTS[0].having(mentions=DOCUMENTS[0].mentions[:1])
    assert write(tmp_path / "a.parquet", [document]).losses == {"relations": 1}
    (back,) = read(tmp_path / "a.parquet")
    assert back.relations == document.relations[1:]
    first, _ = fascicle.to_arrow(document, relations=True).to_pylist()
    assert [end["text"] for end in first["ends"]] == ["Asthma", "As β"]


def test_relations_in_another_order_are_refused(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = folder / "__documents__/relations.parquet"
    table = parquet.read_table(path)
    other = table.set_column(0, "document", [["a", "z"]])
    parquet.write_table(other, path)
    with pytest.raises(FormatError, match="relations of document 'z' have no document"):
        list(read(folder))


def test_the_text_of_a_mention_is_held_against_its_offsets(folder: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    path = folder / "mentions.parquet"
    rows = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    rows[1]["text"] = "Asthm"
    pa.parquet.write_table(pa.Table.from_pylist(rows), path)
    found = [[event.code for event in document.events] for document in read(folder)]
    assert found == [["text-mismatch"], [], []]


def test_datasets_of_hugging_face_reads_it(folder: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        datasets = pytest.importorskip("datasets")
        found = datasets.Dataset.from_parquet(
            str(folder / "mentions.parquet"), cache_dir=str(tmp_path / "cache")
        )
    assert found["type"][:] == ["X", "Disease", "X"]
    assert found[0]["spans"] == [{"start": 0, "end": 2}, {"start": 11, "end": 12}]
    assert found[1]["links"][1]["curie"] == "MESH:D1"


def test_other_software_reads_it(folder: Path) -> None:
    path, expected = folder / "mentions.parquet", ["X", "Disease", "X"]
    readers = {
        "pandas": lambda package: list(package.read_parquet(path)["type"]),
        "polars": lambda package: package.read_parquet(path)["type"].to_list(),
        "duckdb": lambda package: [
            row[0] for row in package.sql(f"select type from '{path}'").fetchall()
        ],
        "pyarrow.dataset": lambda package: package.dataset(path).to_table()["type"].to_pylist(),
    }
    found = {}
    for name, use in readers.items():
        try:
            package = __import__(name, fromlist=["x"])
        except ImportError:
            continue
        found[name] = use(package)
    assert found
    assert all(types == expected for types in found.values())


def test_the_folder_as_one_table_is_the_mentions(folder: Path) -> None:
    dataset = pytest.importorskip("pyarrow.dataset")
    table = dataset.dataset(folder).to_table()  # as pandas.read_parquet(folder) does
    assert table.column_names[:4] == ["document", "type", "start", "end"]
    assert table["start"].to_pylist() == [0, 0, 0]
    assert table["end"].to_pylist() == [12, 6, 1]


def test_folders_of_earlier_versions_are_read(folder: Path) -> None:
    before = source_sha256(str(folder))
    (folder / "__documents__/documents.parquet").rename(folder / "documents.parquet")
    assert source_sha256(str(folder)) == before
    (folder / "__documents__/relations.parquet").unlink()
    (folder / "__documents__").rmdir()
    assert detect(str(folder)) == "parquet"
    assert list(read(folder)) == [document.having(relations=()) for document in DOCUMENTS]
    assert source_sha256(str(folder)) != before


def test_a_folder_is_known_again(folder: Path) -> None:
    before = source_sha256(str(folder)), input_state(str(folder))
    write(folder, DOCUMENTS[:1], overwrite=True)
    after = source_sha256(str(folder)), input_state(str(folder))
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_places(folder: Path, tmp_path: Path) -> None:
    for path in ("-", tmp_path / "a.zip", tmp_path / "a.gz"):
        with pytest.raises(UsageError, match="folder"):
            write(path, DOCUMENTS, format="parquet")
    with pytest.raises(OutputError):
        write(folder, DOCUMENTS)
    lacking = "lacks the columns sections, .*; name the folder with its tables"
    for form in ("parquet", "auto"):
        with pytest.raises(InputError, match=lacking):
            list(read(folder / "mentions.parquet", format=form))
    with pytest.raises(InputError, match="not a folder with the tables"):
        list(read(tmp_path, format="parquet"))


def test_one_file_holds_documents_with_their_mentions(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "all.parquet"
    request = WriteRequest(path=str(path), one_file=True)
    assert not write_documents(DOCUMENTS, request).losses
    assert detect(str(path)) == "parquet"
    assert list(read(path)) == DOCUMENTS
    first = parquet.read_table(path).to_pylist()[0]  # other software
    assert (first["document"], first["mentions"][1]["text"]) == ("a", "Asthma")
    assert first["mentions"][1]["concept"] == "MESH:D1"
    assert [end["role"] for end in first["relations"][0]["ends"]] == ["from", ""]


def test_one_file_of_long_documents_is_read_in_little_memory(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path, count, size = tmp_path / "long.parquet", 200, 5_000
    words = tuple((at, at + 4) for at in range(0, size, 5))
    documents = (
        Document(id=str(at), text="word " * (size // 5), words=words) for at in range(count)
    )
    write_documents(documents, WriteRequest(path=str(path), one_file=True))
    tracemalloc.start()
    try:
        assert sum(len(document.text) for document in read(path)) == count * size
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # A character takes 50 bytes with a word for each five; 64 documents are a batch, and not all.
    assert peak < 50 * size * 100


def test_changes_are_the_only_loss(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from fascicle.core.document import Change

    taken = Change(step="choice", taken=((Mention(((0, 1),), "Y"), None),))
    document = msgspec.structs.replace(DOCUMENTS[2], changes=(taken,))
    with pytest.raises(LossError, match="changes"):
        write(tmp_path / "a.parquet", [document], strict=True)
    assert not list(tmp_path.iterdir())
    assert write(tmp_path / "a.parquet", [document]).losses == {"changes": 1}


def test_broken_tables(folder: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = folder / "mentions.parquet"
    table = parquet.read_table(path)
    parquet.write_table(table.take(pa.array([2, 0, 1])), path)
    with pytest.raises(FormatError, match="order"):
        list(read(folder))
    parquet.write_table(table.drop_columns(["type"]), path)
    with pytest.raises(FormatError, match="type"):
        list(read(folder))
    start = pa.array([-5, 0, 0], pa.int32())
    spans = pa.array([[{"start": 90, "end": 91}]] * 3, table.schema.field("spans").type)
    wrong = table.set_column(2, "start", start).set_column(
        table.column_names.index("spans"), "spans", spans
    )
    parquet.write_table(wrong, path)
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert [one.id for one in read(folder, report=report)] == ["b"]
    assert report.aside.count == 2
    data = path.read_bytes()
    for damaged in (
        b"",
        data[:-20],
        b"PAR1" + bytes(40) + b"PAR1",
        data[:100] + bytes(50) + data[150:],
    ):
        path.write_bytes(damaged)
        with pytest.raises(InputError):
            list(read(folder))


def test_without_the_package_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"fascicle\[parquet\]"):
        write(tmp_path / "a.parquet", DOCUMENTS)
    assert not list(tmp_path.iterdir())


TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
SPANS = st.sampled_from([((0, 1),), ((0, 2), (3, 5)), ((2, 5),)])
LINKS = st.lists(
    st.builds(Link, id=TEXT, ontology=TEXT, name=TEXT, score=st.none() | st.floats(0, 1)),
    max_size=2,
)
FACTS = st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple)
NAME = TEXT.filter(bool)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    mention = st.builds(
        Mention,
        SPANS,
        NAME,
        score=st.none() | st.floats(0, 1),
        source=NAME,
        links=LINKS.map(tuple),
        attributes=FACTS,
    )
    return Document(
        id=draw(TEXT),
        text=draw(TEXT.map(lambda text: text + "01234")),
        words=draw(st.none() | st.just(((0, 1), (2, 3)))),
        mentions=unique(draw(st.lists(mention, max_size=4)))[0],
        meta=draw(st.dictionaries(TEXT, TEXT, max_size=2)),
    )


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(found=st.lists(documents(), min_size=1, max_size=4, unique_by=lambda one: one.id))
def test_round_trip(found: Any) -> None:
    pytest.importorskip("pyarrow")
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "a.parquet"
        write(path, found)
        assert list(read(path)) == found


def test_a_table_of_arrow_has_a_row_for_each_mention(folder: Path) -> None:
    import pyarrow.parquet

    documents = list(read(folder))
    assert sum(len(one.mentions) for one in documents) > 1
    table = fascicle.to_arrow(iter(documents))
    assert table.equals(pyarrow.parquet.read_table(folder / "mentions.parquet"))
    assert fascicle.to_arrow(documents[0]).num_rows == len(documents[0].mentions)
    empty = fascicle.to_arrow([])
    assert (empty.num_rows, empty.schema) == (0, table.schema)
    for wrong in ("a text", None, [3]):
        with pytest.raises((UsageError, InputError)):
            fascicle.to_arrow(wrong)  # type: ignore[arg-type]


def test_the_concept_names_its_vocabulary() -> None:
    pytest.importorskip("pyarrow")
    mention = Mention(((0, 1),), "X", links=(Link(id="D1", ontology="MESH"),))
    table = fascicle.to_arrow(Document(id="1", text="a", mentions=(mention,)))
    assert table.column("concept").to_pylist() == ["MESH:D1"]
