"""Pairs of brackets, against a search that looks at the whole text again for each of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fascicle.terms.abbreviations.finder import Bracket, brackets

PARTNER = {")": "(", "]": "[", "}": "{"}


def slow(text: str) -> list[Bracket]:
    state = ["open" if one in "([{" else "" for one in text]
    found: list[Bracket] = []
    opened: dict[int, int] = {}
    for at, character in enumerate(text):
        before = [i for i in range(at) if state[i] == "open"]
        if character in "([{":
            alone = [pair.end + 1 for pair in found if stands_alone(text, pair)]
            opened[at] = max([0, *alone, *(i + 1 for i in before)])
        elif mine := [i for i in before if text[i] == PARTNER.get(character)]:
            for i in before:
                if i >= mine[-1]:
                    state[i] = "closed"
            found.append(Bracket(mine[-1], at, opened[mine[-1]]))
    return found


def stands_alone(text: str, pair: Bracket) -> bool:
    left = text[pair.start - 1] if pair.start else " "
    right = text[pair.end + 1] if pair.end + 1 < len(text) else " "
    return not left.isalnum() and left != "-" and not right.isalnum() and right != "-"


@given(st.text(alphabet="()[]{}a -", max_size=30))
def test_pairs_are_those_of_the_slow_search(text: str) -> None:
    assert list(brackets(text)) == slow(text)
