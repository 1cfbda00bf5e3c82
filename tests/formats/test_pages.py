"""Printed pages: columns, paragraphs, hyphens. The pages are made of words whose order is known."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.formats.pdf import PrintedPiece, printed_text

SIZE, STEP, ADVANCE = 10.0, 12.0, 6.0
WORD = st.text(st.sampled_from("abcdefgh"), min_size=1, max_size=12)


def piece(x: float, y: float, text: str, *, size: float = SIZE) -> PrintedPiece:
    return PrintedPiece(x, y, x + len(text) * ADVANCE, y + size, text)


def column(words: list[str], x: float, *, top: float = 700, room: int = 30) -> list[PrintedPiece]:
    """Lines of at most ``room`` characters, none of them cut."""
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) >= room:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return [piece(x, top - at * STEP, line) for at, line in enumerate(lines)]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(WORD, min_size=25, max_size=120), min_size=1, max_size=3),
    st.integers(),
    st.booleans(),
)
def test_words_are_in_order_whatever_the_order_of_the_file(
    columns: list[list[str]], seed: int, title: bool
) -> None:
    pieces = [one for at, words in enumerate(columns) for one in column(words, 50 + at * 210)]
    wanted = [word for words in columns for word in words]
    if title:
        pieces.append(piece(60, 750, "x" * 60, size=16))
        wanted.insert(0, "x" * 60)
    Random(seed).shuffle(pieces)
    assert printed_text([pieces], [792]).text.split() == wanted


@settings(max_examples=150, deadline=None)
@given(st.lists(WORD, min_size=2, max_size=80), st.randoms(use_true_random=False))
def test_hyphens_can_be_put_back(words: list[str], random: Random) -> None:
    """At each offset of ``hyphens`` a hyphen and a line end stood, and nowhere else is a
    character gone.
    """
    lines, rest = [""], ""
    for word in words:
        lines[-1] = f"{lines[-1]} {rest}{word}".strip() if not rest else f"{rest}{word}"
        rest = ""
        if len(lines[-1]) > 20:
            if random.random() < 0.5:
                lines[-1] += f" {word[:1]}x-"
                rest = f"y{word} "
            lines.append("")
    lines = [line for line in lines if line] + [rest] * bool(rest)
    found = printed_text(
        [[piece(50, 700 - at * STEP, line) for at, line in enumerate(lines)]], [792]
    )
    text = found.text  # with a line end before lines that look like items of a list
    for at in reversed(found.hyphens):
        text = f"{text[:at]}-\n{text[at:]}"
    shown = "\n".join(lines)
    assert (
        text.replace("\n", " ").replace("- ", "-").split()
        == shown.replace("\n", " ").replace("- ", "-").split()
    )


def test_words_with_hyphens_of_their_own_keep_them() -> None:
    lines = [
        "a dose-dependent effect",
        "was dose-",
        "dependent for IL-",
        "6 and TNF-",
        "alpha in fibro-",
        "sis, pre- and",
    ]
    lines += ["post-treatment, of non-", "Hodgkin"]
    found = printed_text(
        [[piece(50, 700 - at * STEP, line) for at, line in enumerate(lines)]], [792]
    )
    assert found.text == (
        "a dose-dependent effect was dose-dependent for IL-6 and TNF-alpha in fibrosis, pre- and "
        "post-treatment, of "
        "non-Hodgkin"
    )
    assert [found.text[at - 5 : at + 3] for at in found.hyphens] == ["fibrosis"]


def test_running_heads_are_left_out_and_lines_of_the_text_stay() -> None:
    def page(number: int) -> list[PrintedPiece]:
        return [
            piece(50, 760, "A Journal"),
            piece(300, 760, str(number + 1)),
            *column([f"word{'ab'[number]}"] * 40, 50),
            piece(50, 80, "ends"),
            piece(300, 80, f"other {'ab'[number]}"),
            piece(300, 20, str(number + 1)),
        ]

    found = printed_text([page(0), page(1)], [792, 792])
    assert found.text.split().count("ends") == 2
    assert "Journal" not in found.text
    assert found.left_out == 4
    assert found.text[found.pages[1] :].startswith("wordb")
    tables = printed_text(
        [[piece(50, 720, f"Table {at}"), *column(["x"] * 40, 50, top=500)] for at in (1, 2)],
        [792] * 2,
    )
    assert "Table 1" in tables.text
    alone = printed_text([page(0)], [792])  # nothing recurs, so nothing is known to be no text
    assert alone.text.startswith("A Journal")
    assert alone.left_out == 0


def test_nothing_on_a_page() -> None:
    assert printed_text([], []).text == ""
    assert printed_text([[]], [792]).pages == (0,)
