"""Exclusion lists: what is written is read back, and what is none is refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fascicle.core.files.source import Source
from fascicle.errors import FormatError, OutputError
from fascicle.formats.exclusions import (
    HEADER,
    REASONS,
    Exclusion,
    read_exclusions,
    write_exclusions,
)
from fascicle.formats.predictions import text_hash

_NAMES = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12)
_ROWS = st.builds(
    Exclusion,
    corpus=_NAMES,
    part=st.sampled_from(["train", "dev", "test", "corpus", "against"]),
    document=_NAMES | st.sampled_from(["a\tb", "a\\tb", "\\", "a\nb", "\\\\n", "\r", "8528200#2"]),
    sha256=_NAMES.map(text_hash),
    reason=st.sampled_from(REASONS),
    similarity=st.none() | st.integers(0, 10_000).map(lambda n: n / 10_000),
    of_corpus=_NAMES,
    of_part=st.sampled_from(["train", "dev", "test", "corpus"]),
    of_document=_NAMES,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_ROWS, max_size=6))
def test_a_list_is_read_back(tmp_path: Path, rows: list[Exclusion]) -> None:
    path = tmp_path / "list.tsv"
    assert write_exclusions(path, rows, overwrite=True) == len(rows)
    assert list(read_exclusions(Source(path=str(path)))) == rows
    lines = path.read_bytes().split(b"\n")
    assert lines[0].decode().split("\t") == list(HEADER)
    assert len(lines) == len(rows) + 2


@dataclass(frozen=True)
class Broken:
    line: str
    says: str


_GOOD = "a.tsv\ttrain\t1\t" + "0" * 64 + "\tduplicate\t1.0000\tb.tsv\ttest\t2"


@pytest.mark.parametrize(
    "case",
    [
        Broken(_GOOD.rpartition("\t")[0], "8 columns"),
        Broken(_GOOD.replace("0" * 64, "0" * 63), "SHA-256"),
        Broken(_GOOD.replace("0" * 64, "A" * 64), "SHA-256"),
        Broken(_GOOD.replace("duplicate", "leak"), "'leak' is not known"),
        Broken(_GOOD.replace("1.0000", "much"), "'much' is not a number"),
    ],
)
def test_broken_rows_are_refused_with_their_line(tmp_path: Path, case: Broken) -> None:
    path = tmp_path / "list.tsv"
    path.write_text("\t".join(HEADER) + f"\n{_GOOD}\n{case.line}\n", encoding="utf-8")
    rows = read_exclusions(Source(path=str(path)))
    assert next(rows).document == "1"
    with pytest.raises(FormatError, match=case.says) as error:
        next(rows)
    assert str(error.value).startswith(f"{path}:3: ")


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "list.tsv"
    path.write_text("document\ttype\n", encoding="utf-8")
    with pytest.raises(FormatError, match="not an exclusion list"):
        list(read_exclusions(Source(path=str(path))))
    with pytest.raises(OutputError):
        write_exclusions(path, [])
