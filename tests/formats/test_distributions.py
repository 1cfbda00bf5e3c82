"""Distributions files: what is written is read, and what breaks the rules is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.errors import FormatError, InputError, OutputError
from fascicle.formats.distributions import DistributionsHeader, MentionDistribution, read, write

HEADER = DistributionsHeader(model="m", family="crf", definition="tag-path", types=("A", "B"))
GOOD: dict[str, Any] = {
    "document": "1",
    "spans": [[0, 4]],
    "type": "A",
    "found": True,
    "probabilities": [0.25, 0.5, 0.25],
}
FIRST: dict[str, Any] = {"fascicle_distributions": 1, **msgspec.to_builtins(HEADER)}


def lines(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


@given(rows=st.lists(st.tuples(*[st.floats(0, 1)] * 3), max_size=5))
def test_numbers_keep_six_digits(
    rows: list[tuple[float, ...]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("d") / "d.jsonl"
    given = [
        MentionDistribution(
            document="é\t1", spans=((0, 4), (6, 9)), type="B", found=False, probabilities=row
        )
        for row in rows
    ]
    write(
        path,
        HEADER,
        [
            *given,
            MentionDistribution(
                document="2", spans=((0, 1),), type="C", found=False, unreachable="too-wide"
            ),
        ],
    )
    header, entries = read(path)
    *found, last = entries
    assert header == HEADER
    assert (last.type, last.unreachable, last.probabilities) == ("C", "too-wide", ())
    for one, row in zip(found, rows, strict=True):
        assert (one.document, one.spans) == ("é\t1", ((0, 4), (6, 9)))
        assert one.probabilities == pytest.approx(row, rel=5e-6)


def test_gzip_and_what_is_there_already(tmp_path: Path) -> None:
    entry = msgspec.convert(GOOD, MentionDistribution)
    write(tmp_path / "d.jsonl.gz", HEADER, [entry])
    assert gzip.decompress((tmp_path / "d.jsonl.gz").read_bytes()).count(b"\n") == 2
    assert list(read(tmp_path / "d.jsonl.gz")[1]) == [entry]
    with pytest.raises(OutputError, match="exists already"):
        write(tmp_path / "d.jsonl.gz", HEADER, [])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"probabilities": [0.5, 0.5]}, "2 probabilities"),
        ({"probabilities": [0.5, 0.5, 1.5]}, "below 0 or above 1"),
        ({"probabilities": [0.5, 0.5, -0.1]}, "below 0 or above 1"),
        ({"type": "C"}, "'C' is not one of the header"),
        ({"unreachable": "too-wide"}, "not both"),
        ({"probabilities": []}, "not both"),
        ({"text": "secret"}, "unknown field"),
    ],
)
def test_mentions_that_break_the_rules(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = lines(tmp_path / "d.jsonl", FIRST, GOOD, GOOD | change)
    with pytest.raises(FormatError, match=said) as caught:
        list(read(path)[1])
    assert f"{path}:3" in str(caught.value)


@pytest.mark.parametrize(
    "first",
    [{}, {"fascicle_predictions": 1, "id": "1"}, FIRST | {"types": []}, 3, FIRST | {"x": 1}],
)
def test_other_files_are_refused(tmp_path: Path, first: Any) -> None:
    with pytest.raises(FormatError, match="not a distributions file"):
        read(lines(tmp_path / "d.jsonl", first))


def test_an_empty_file_and_another_version(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is empty"):
        read(lines(tmp_path / "d.jsonl"))
    with pytest.raises(FormatError, match="schema 2"):
        read(lines(tmp_path / "d.jsonl", FIRST | {"fascicle_distributions": 2}))
