from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.house import code_lines, longest_chain, measure


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("", 0),
        ("# only a comment\n", 0),
        ('"""A docstring\nof two lines."""\n', 0),
        ("x = 1  # a comment\n", 1),
        ("x = (\n    1,\n\n    # between\n    2,\n)\n", 4),
        ('def f():\n    """Docstring."""\n    return """two\nlines"""\n', 3),
        ('x = """no\ndocstring"""\n', 2),
    ],
)
def test_lines_with_a_token_count(source: str, lines: int) -> None:
    assert code_lines(source) == lines


@given(
    st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] < pair[1]))
)
def test_the_longest_chain_is_the_longest_of_all_orders(pairs: set[tuple[int, int]]) -> None:
    graph = {str(i): {str(b) for a, b in pairs if a == i} for i in range(6)}

    def chained(order: tuple[str, ...]) -> int:
        length = 1
        while length < len(order) and order[length] in graph[order[length - 1]]:
            length += 1
        return length

    assert longest_chain(graph) == max(chained(order) for order in permutations(graph))


def test_a_checkout_is_measured(tmp_path: Path) -> None:
    room = tmp_path / "src" / "fascicle" / "room"
    room.mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text("three plain words\n", encoding="utf-8")
    (room.parent / "__init__.py").write_text("", encoding="utf-8")
    (room / "__init__.py").write_text('"""A room."""\n', encoding="utf-8")
    (room / "low.py").write_text(
        "def used():\n    return 1\n\n\ndef _own():\n    return 2\n", encoding="utf-8"
    )
    high = "from fascicle.room.low import used\n\n\nclass Public:\n    value = used()\n"
    (room / "high.py").write_text(high, encoding="utf-8")

    found = measure(tmp_path)

    assert (found["code_lines"], found["files"], found["rooms"], found["words"]) == (7, 4, 1, 3)
    assert (found["chain"], found["public_names"], found["imported_names"]) == (2, 2, 1)
    assert (found["functions"], found["function_longest"]) == (2, 2)
