"""JSON part by part, against `json` for the whole."""

from __future__ import annotations

import io
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.files import elements
from fascicle.core.files.elements import JsonParts
from fascicle.errors import FormatError

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


def walked(parts: JsonParts, *, depth: int) -> Any:
    """The value at hand, of which ``depth`` levels are walked through and the others taken as a
    whole.
    """
    opening = parts._next()
    if depth > 0 and opening == "{":
        return {name: walked(parts, depth=depth - 1) for name in parts.fields()}
    if depth > 0 and opening == "[":
        return [walked(parts, depth=depth - 1) for _ in parts.elements()]
    return json.loads(parts.text())


@given(VALUES, st.integers(0, 4), st.sampled_from([None, 1]), st.booleans(), st.integers(1, 7))
def test_parts_are_those_of_the_whole(
    value: Any, depth: int, indent: int | None, escaped: bool, chunk: int
) -> None:
    content = json.dumps(value, indent=indent, ensure_ascii=escaped).encode(
        "utf-8", "surrogatepass"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elements, "_BYTES", chunk)
        parts = JsonParts(io.BytesIO(content), at="x")
        assert walked(parts, depth=depth) == value
        parts.close()
        other = JsonParts(io.BytesIO(content), at="x")
        other.skip()
        other.close()


@given(VALUES, st.data())
def test_a_part_of_a_file_is_no_file(value: Any, data: st.DataObject) -> None:
    content = json.dumps([value]).encode()
    cut = content[: data.draw(st.integers(0, len(content) - 1))]
    with pytest.raises(FormatError):
        walked(JsonParts(io.BytesIO(cut), at="x"), depth=data.draw(st.integers(0, 3)))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{,}",
        b"[1,]",
        b"[1 2]",
        b'{"a" 1}',
        b"{1:2}",
        b'["\xff"]',
        b"[1]]",
        b"[" * 100_000,
        b'{"a":}',
    ],
)
def test_what_is_no_json_is_refused(content: bytes) -> None:
    def read(depth: int) -> None:
        parts = JsonParts(io.BytesIO(content), at="x")
        walked(parts, depth=depth)
        parts.close()

    for depth in (0, 3):
        with pytest.raises(FormatError) as error:
            read(depth)
        assert "\n" not in str(error.value)


def test_numbers_without_end_and_control_characters_are_no_errors_of_json() -> None:
    parts = JsonParts(io.BytesIO(b"[" + b"1" * 10_000 + b',"a\x01"]'), at="x")
    assert [len(parts.text()) for _ in parts.elements()] == [10_000, 4]


def test_memory_does_not_grow_with_the_file() -> None:
    class Endless(io.RawIOBase):
        left = 200

        def read(self, size: int = -1) -> bytes:
            self.left -= 1
            return (b"[{}" if self.left == 199 else b"]" if self.left == 0 else b"") + b",{}" * (
                5_000 * (self.left > 0)
            )

    parts = JsonParts(Endless(), at="x")  # type: ignore[arg-type]
    tracemalloc.start()
    assert sum(1 for _ in parts.elements() if parts.text() == "{}") > 900_000
    assert tracemalloc.get_traced_memory()[1] < 2**21
    tracemalloc.stop()
    with pytest.raises(FormatError, match="100"):
        JsonParts(io.BytesIO(b'"' + b"x" * 200 + b'"'), at="x", most=100).text()
