"""What annotations allow: the check of arguments against msgspec, which checks the same
annotations in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_origin

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from fascicle.core.arguments import collect_paths, validate_arguments
from fascicle.errors import UsageError

HINTS: tuple[Any, ...] = (
    int,
    bool,
    float,
    str,
    None,
    int | None,
    Literal["a", "b"],
    Literal["a"] | None,
    list[int],
    list[str | int],
    list[list[int]],
    tuple[int, ...],
    tuple[str, int],
    Annotated[int, Meta(ge=0, le=3)],
    Annotated[float, Meta(gt=0.0, le=1.0)],
    Annotated[int, Meta(ge=1)] | None,
    list[Annotated[int, Meta(ge=1)]] | None,
    Annotated[str, Meta(min_length=1)],
)
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from([0.5, -0.5, 1.5, "", "a", "ab"])
)
VALUES = (
    PLAIN
    | st.lists(PLAIN, max_size=3)
    | st.lists(st.lists(st.integers(0, 2), max_size=2), max_size=2)
)


def taking(hint: Any) -> Callable[[Any], Any]:
    def call(value: Any) -> Any:
        return value

    call.__annotations__["value"] = hint
    return validate_arguments(call)


def allows(value: Any, hint: Any) -> bool:
    try:
        msgspec.convert(value, hint, strict=True)
    except msgspec.ValidationError:
        return False
    return True


@given(value=VALUES, hint=st.sampled_from(HINTS))
def test_the_same_is_allowed_as_in_msgspec(value: Any, hint: Any) -> None:
    if get_origin(hint) is tuple and isinstance(value, list):  # which msgspec takes for one
        value = tuple(value)
    if allows(value, hint):
        assert taking(hint)(value) is value
    else:
        with pytest.raises(UsageError, match=r"^value"):
            taking(hint)(value)


@dataclass(frozen=True, kw_only=True)
class Inner:
    size: Annotated[int, Meta(ge=1)] = 1


@dataclass(frozen=True, kw_only=True)
class Outer:
    inner: Inner
    names: Sequence[str] = ()


@validate_arguments
def take(
    every: Iterable[Outer], by: Mapping[str, int], do: Callable[[int], int] = abs
) -> Iterable[Outer]:
    return every


def test_fields_of_settings_are_looked_through() -> None:
    wrong: Any
    with pytest.raises(UsageError, match=r"^every\[1\]\.inner\.size must be an int from 1; 0 "):
        take([Outer(inner=Inner()), Outer(inner=Inner(size=0))], {})
    wrong = ["a", 3]
    with pytest.raises(
        UsageError, match=r"^every\[0\]\.names must .*; every\[0\]\.names\[1\] is 3"
    ):
        take([Outer(inner=Inner(), names=wrong)], {})
    wrong = ["x"]
    with pytest.raises(UsageError, match=r"^every must be a list of Outer; every\[0\] is 'x'"):
        take(wrong, {})
    with pytest.raises(UsageError, match=r"^by must"):
        take([], wrong)
    with pytest.raises(UsageError, match=r"^do must be a function"):
        take([], {}, wrong)


def test_a_stream_is_not_read_by_the_check() -> None:
    seen = []

    def stream() -> Iterator[Outer]:
        seen.append(1)
        yield Outer(inner=Inner())

    found = take(stream(), {})
    assert seen == []
    assert list(found) == [Outer(inner=Inner())]


@given(st.text(max_size=3))
def test_names_of_files(text: str) -> None:
    if text and "\0" not in text:
        assert collect_paths([text, Path("a")], name="files") == (text, "a")
    else:
        with pytest.raises(UsageError, match=r"^files"):
            collect_paths([text], name="files")


def test_what_python_refuses_stays_what_it_is() -> None:
    with pytest.raises(TypeError):
        take()  # type: ignore[call-arg]
    assert take.__name__ == "take"
