"""Names that clients give to files: any name in any script gives a file that a file system
takes.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.requests import Request

from fascicle.formats.catalogue import FORMATS
from fascicle.serving.content import format_suffix, media_type, plain_name

NAME_MAX = 255  # bytes, of the usual file systems
LETTERS = st.characters(exclude_categories=["Cs"])


@given(
    st.text(LETTERS, max_size=400)
    | st.text(st.sampled_from("漢𒀀é.-_/a"), min_size=80, max_size=400)
)
@example("漢" * 100 + ".txt")
@example("𒀀" * 200 + ".txt")
def test_a_name_fits_into_a_file_system(name: str) -> None:
    found = plain_name(name)
    assert 0 < len(f"input-{found}".encode()) <= NAME_MAX
    assert "/" not in found
    assert not found.startswith((".", "-"))


@pytest.mark.parametrize(
    "name", ["a (1).txt", "x0.txt", "हिन्दी.txt", "Müller & Co, 2020+.csv", "e\u0301.txt"]
)
def test_a_name_without_danger_stays(name: str) -> None:
    assert plain_name(name) == name


@pytest.mark.parametrize(
    ("accepted", "wanted"),
    [
        ("application/json;q=0, */*", "text/x-pubtator"),
        ("*/*, application/*;q=0", "text/x-pubtator"),
        ("application/json, */*;q=0", "application/json"),
        ("application/*, */*;q=0", "application/json"),
        ("text/*;q=0.5, application/json;q=0.1", "text/x-pubtator"),
    ],
)
def test_a_media_type_that_is_refused_is_not_answered(accepted: str, wanted: str) -> None:
    request = Request({"type": "http", "headers": [(b"accept", accepted.encode())]})
    assert media_type(request, ("application/json", "text/x-pubtator")) == wanted


@pytest.mark.parametrize(("name", "suffix"), [("parquet", ".parquet"), ("brat", ".zip")])
def test_a_suffix_is_that_of_the_content(name: str, suffix: str) -> None:
    assert format_suffix(FORMATS[name]) == suffix


@given(st.text(LETTERS, max_size=400), st.sampled_from([".txt", ".bioc.xml", ".jsonl.gz"]))
def test_the_suffix_stays(name: str, suffix: str) -> None:
    assert plain_name(f"x{name}{suffix}").endswith(suffix.lstrip("."))
