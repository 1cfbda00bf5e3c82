"""What the tests of readers share: a small text becomes a file, and the file records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.settings.packs import SourceSettings
from fascicle.terms.sources.drafts import ROWS, SourceReport
from fascicle.terms.sources.reading import read_source
from fascicle.terms.terms import ConceptRecord


@dataclass(frozen=True)
class Read:
    """Records of a file, by their CURIEs where these are distinct, and the report."""

    records: list[ConceptRecord]
    report: SourceReport

    def __getitem__(self, curie: str) -> ConceptRecord:
        (found,) = [record for record in self.records if record.curie == curie]
        return found

    def names(self, curie: str) -> dict[str, str]:
        return {
            name.surface: name.kind
            for record in self.records
            if record.curie == curie
            for name in record.names
        }

    def losses(self) -> dict[str, int]:
        return {reason: count for reason, count in self.report.losses.items() if count}


def read_file(path: Path, reader: str, **settings: Any) -> Read:
    report = SourceReport()
    given = msgspec.convert({"path": str(path), "reader": reader, **settings}, SourceSettings)
    records = list(read_source(given, report=report))
    # each row is accounted for
    assert report.rows == report.used + sum(report.losses[reason] for reason in ROWS)
    assert report.records == len(records)
    assert report.names == sum(len(record.names) for record in records)
    return Read(records=records, report=report)


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Read]:
    def reading(content: str | bytes, reader: str, **settings: Any) -> Read:
        path = tmp_path / "source"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_file(path, reader, **settings)

    return reading
