"""pandas, polars, datasets and pyarrow over a folder of Parquet, as their users call them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.pages import blocks
from tests.support.interop import facts

from fascicle.core.document import Document
from fascicle.formats import read, write

COLUMNS = ("document", "start", "end", "text", "type")


@pytest.fixture
def folder(documents: list[Document], tmp_path: Path) -> Path:
    path = tmp_path / "out.parquet"
    write(path, documents)
    return path


def rows_of(documents: list[Document]) -> list[tuple[Any, ...]]:
    return sorted((one.id, *fact) for one in documents for fact in facts(one))


def test_pandas_reads_the_folder(folder: Path, documents: list[Document]) -> None:
    import pandas

    frame = pandas.read_parquet(folder)
    assert sorted(frame[list(COLUMNS)].itertuples(index=False, name=None)) == rows_of(documents)
    assert str(frame["start"].dtype) == "int32"
    texts = pandas.read_parquet(folder / "__documents__").set_index("document")["text"]
    for row in frame.itertuples():
        assert texts[row.document][row.start : row.end] == row.text


def test_datasets_loads_the_folder(folder: Path, documents: list[Document], tmp_path: Path) -> None:
    import datasets

    found = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    assert list(found) == ["train"]
    assert sorted(tuple(row[name] for name in COLUMNS) for row in found["train"]) == rows_of(
        documents
    )
    texts = datasets.load_dataset(str(folder / "__documents__"), cache_dir=str(tmp_path / "cache"))[
        "train"
    ]
    assert texts["text"][:] == [one.text for one in documents]


def test_polars_reads_each_table_and_mixes_nothing(folder: Path, documents: list[Document]) -> None:
    import polars

    frame = polars.read_parquet(folder / "mentions.parquet")
    assert sorted(frame.select(COLUMNS).rows()) == rows_of(documents)
    assert polars.read_parquet(folder / "__documents__")["text"].to_list() == [
        one.text for one in documents
    ]
    with pytest.raises(polars.exceptions.PolarsError):
        polars.read_parquet(folder)


def test_pyarrow_reads_the_folder(folder: Path, documents: list[Document]) -> None:
    import pyarrow.dataset
    import pyarrow.parquet

    for table in (pyarrow.parquet.read_table(folder), pyarrow.dataset.dataset(folder).to_table()):
        assert sorted(tuple(row[name] for name in COLUMNS) for row in table.to_pylist()) == rows_of(
            documents
        )


@pytest.mark.parametrize(("name", "write_frame"), [("a.csv", "to_csv"), ("a.jsonl", "to_json")])
def test_what_pandas_writes_is_read(
    name: str, write_frame: str, documents: list[Document], tmp_path: Path
) -> None:
    import pandas

    entities = [
        [{"start": s, "end": e, "type": kind} for s, e, _, kind in sorted(facts(one))]
        for one in documents
    ]
    rows = {
        "id": [one.id for one in documents],
        "text": [one.text for one in documents],
        "entities": entities,
    }
    more: dict[str, Any] = (
        {"index": False} if name.endswith("csv") else {"orient": "records", "lines": True}
    )
    getattr(pandas.DataFrame(rows), write_frame)(tmp_path / name, **more)
    assert [(one.id, one.text, facts(one)) for one in read(tmp_path / name)] == [
        (one.id, one.text, facts(one)) for one in documents
    ]


@pytest.mark.parametrize("name", ["a.tsv", "a.csv"])
def test_pandas_reads_our_tables(name: str, documents: list[Document], tmp_path: Path) -> None:
    import pandas

    write(tmp_path / name, documents)
    frame = pandas.read_csv(
        tmp_path / name,
        sep="\t" if name.endswith("tsv") else ",",
        quoting=3 if "t" in name[2:4] and name.endswith("tsv") else 0,
    )
    assert sorted((row.start, row.end, row.type) for row in frame.itertuples()) == sorted(
        (start, end, kind) for one in documents for start, end, _, kind in facts(one)
    )


def test_datasets_writes_and_we_read(documents: list[Document], tmp_path: Path) -> None:
    import datasets

    rows = [
        {
            "tokens": ["Lithium", "for", "lung", "cancer"],
            "ner_tags": ["B-Chemical", "O", "B-Disease", "I-Disease"],
        }
    ]
    datasets.Dataset.from_list(rows).to_json(str(tmp_path / "a.jsonl"))
    (found,) = read(tmp_path / "a.jsonl")
    assert facts(found) == {(0, 7, "Lithium", "Chemical"), (12, 23, "lung cancer", "Disease")}


def test_a_table_of_arrow_becomes_a_data_frame(documents: list[Document]) -> None:
    import pandas
    import polars

    import fascicle

    table = fascicle.to_arrow(documents)
    for frame in (table.to_pandas(), pandas.DataFrame.from_arrow(table)):
        assert sorted(frame[list(COLUMNS)].itertuples(index=False, name=None)) == rows_of(documents)
    for other in (polars.from_arrow(table), polars.DataFrame(table)):
        assert sorted(other.select(COLUMNS).rows()) == rows_of(documents)


def test_a_column_of_a_data_frame_is_annotated() -> None:
    import pandas
    import polars

    import fascicle

    model, texts = fascicle.load("biomed-fast"), ["Lithium causes tremor.", "Nothing."]
    wanted = model(texts)
    assert model(pandas.Series(texts)) == model(polars.Series(texts)) == wanted
    assert len(wanted[0].mentions) > 0


def test_the_page_for_users_of_data_frames() -> None:
    import polars

    page = (Path(__file__).parents[2] / "docs" / "python" / "coming-from.md").read_text(
        encoding="utf-8"
    )
    made, used = (
        block for block in blocks(page, "python") if "to_arrow" in block or "to_pandas" in block
    )
    names = {"polars": polars}
    exec(compile(f"{made}\n{used}", "coming-from.md", "exec"), names)
    assert len(names["frame"]) == 3


@pytest.mark.parametrize("library", ["pandas", "polars", "datasets"])
def test_lines_that_a_library_wrote_again_are_the_same(
    library: str, documents: list[Document], tmp_path: Path
) -> None:
    # polars refuses lists of texts and lists
    ours = [one.having(relations=()) for one in documents]
    write(tmp_path / "a.jsonl", [*ours, Document(id="bare", text="No mention.")])
    given, written = str(tmp_path / "a.jsonl"), tmp_path / "b.jsonl"
    if library == "pandas":
        import pandas

        pandas.read_json(given, lines=True, dtype=False).to_json(
            written, orient="records", lines=True
        )
    elif library == "polars":
        import polars

        polars.read_ndjson(given, infer_schema_length=None).write_ndjson(written)
    else:
        import datasets

        lines = datasets.load_dataset(
            "json", data_files=given, split="train", cache_dir=str(tmp_path / "cache")
        )
        lines.to_json(str(written))
    assert list(read(written)) == list(read(given))
