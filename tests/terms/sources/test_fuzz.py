"""Damaged sources: read or refused in one sentence; what is given is well formed, and every row
is accounted for.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.core.type_names import read_vocabulary
from fascicle.errors import FascicleError
from fascicle.settings.packs import SourceSettings
from fascicle.terms.sources.drafts import ROWS, SourceReport, clean_name
from fascicle.terms.sources.reading import READERS, read_source
from fascicle.terms.terms import NAME_KINDS, ConceptRecord, curie


def _module() -> Any:
    path = Path(__file__).with_name("fuzzing.py")
    spec = importlib.util.spec_from_file_location("fuzzing_of_sources", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FUZZING = _module()


def check_record(record: ConceptRecord) -> None:
    assert curie(record.curie) == record.curie != ""
    for name in record.names:
        assert clean_name(name.surface) == name.surface != ""
        assert name.kind in NAME_KINDS
        assert len(name.surface) <= 1_000
    others = (*record.parents, *record.replaced_by, *(cross.curie for cross in record.references))
    assert all(curie(other) == other != "" for other in others)
    assert record.curie not in record.parents
    assert len(set(record.names)) == len(record.names)
    labels = [name.language for name in record.names if name.kind == "label"]
    assert len(set(labels)) == len(labels)
    msgspec.json.encode(record)  # which no lone surrogate lets pass


def check(path: Path, reader: str, settings: dict[str, Any]) -> bool:
    """Whether a file was read to its end; anything but an error of one sentence fails."""
    report = SourceReport()
    given = msgspec.convert({"path": str(path), "reader": reader, **settings}, SourceSettings)
    try:
        for record in read_source(given, report=report):
            check_record(record)
    except FascicleError as refused:
        error: FascicleError | None = refused
    else:
        error = None
    if error is not None:
        assert "\n" not in str(error)
        return False
    # each row is accounted for
    assert report.rows == report.used + sum(report.losses[reason] for reason in ROWS)
    assert all(report.losses[reason] and report.first[reason] for reason in report.losses)
    return True


def torture(tmp_path: Path, reader: str, *, count: int) -> int:
    """The number of damaged files that were read to their end."""
    text, settings = FUZZING.TARGETS[reader]
    path, read = tmp_path / "source", 0
    for number in range(count):
        path.write_bytes(FUZZING.damaged(text.encode(), number))
        read += check(path, reader, settings)
    return read


def test_every_reader_is_tortured() -> None:
    assert set(FUZZING.TARGETS) == set(READERS)
    assert read_vocabulary().candidates("Gene")


@pytest.mark.parametrize("reader", FUZZING.TARGETS)
def test_what_is_whole_is_read(tmp_path: Path, reader: str) -> None:
    text, settings = FUZZING.TARGETS[reader]
    path = tmp_path / "source"
    path.write_text(text)
    if reader == "rdf":
        pytest.importorskip("pyoxigraph")
    assert check(path, reader, settings)


@pytest.mark.parametrize("reader", FUZZING.TARGETS)
def test_damaged_sources_give_no_traceback(tmp_path: Path, reader: str) -> None:
    assert torture(tmp_path, reader, count=20) < 20


@pytest.mark.slow
@pytest.mark.parametrize("reader", FUZZING.TARGETS)
def test_many_damaged_sources_give_no_traceback(tmp_path: Path, reader: str) -> None:
    count = int(os.environ.get("FASCICLE_MUTANTS", "400"))
    assert 0 < torture(tmp_path, reader, count=count) < count  # some are read, and some are refused
