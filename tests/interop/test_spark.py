"""A model in the pandas functions of Spark, whose workers are processes of their own."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import fascicle

pd = pytest.importorskip("pandas")
sql = pytest.importorskip("pyspark.sql")

TEXTS = [f"Lithium gave no tremor to patient {number}." for number in range(6)]
SCHEMA = "id string, names array<string>, process int"


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)
        session = builder.getOrCreate()
        yield session
        session.stop()


def test_frames_of_a_table_go_through_a_model(spark: Any) -> None:
    model = fascicle.load("biomed-fast", threads=1)
    expected = [[mention.text for mention in document] for document in model(TEXTS)]
    assert all("Lithium" in names for names in expected)

    def annotate(frames: Any) -> Any:
        for frame in frames:
            documents = model(zip(frame["id"], frame["text"], strict=True))
            names = [[mention.text for mention in document] for document in documents]
            ids = [document.id for document in documents]
            yield pd.DataFrame({"id": ids, "names": names, "process": os.getpid()})

    rows = [(f"d{number}", text) for number, text in enumerate(TEXTS)]
    found = spark.createDataFrame(rows, ["id", "text"]).mapInPandas(annotate, SCHEMA).collect()
    assert [(row["id"], row["names"]) for row in found] == [
        (id_, names) for (id_, _), names in zip(rows, expected, strict=True)
    ]
    assert os.getpid() not in {row["process"] for row in found}


def test_a_column_goes_through_a_model(spark: Any) -> None:
    udf = pytest.importorskip("pyspark.sql.functions").pandas_udf
    model = fascicle.load("biomed-fast", threads=1)

    def concepts(texts: Any) -> Any:
        return pd.Series([[m.links[0].curie for m in d if m.links] for d in model(texts)])

    concepts.__annotations__ = {"texts": pd.Series, "return": pd.Series}  # Spark reads them
    frame = spark.createDataFrame([(text,) for text in TEXTS], ["text"])
    (row, *_) = frame.select(udf(concepts, "array<string>")("text").alias("ids")).collect()
    assert row["ids"][0] == model(TEXTS[0]).mentions[0].links[0].curie == "MESH:D008094"
