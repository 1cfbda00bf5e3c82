"""Where short forms stand, against a search at every character."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from fascicle.text.characters import find_occurrences

TEXT = st.text(alphabet="aA1-_ (", max_size=30)


OTHERS = [f"other{number}" for number in range(60)]  # so many that forms are not sought one by one


@given(TEXT, st.lists(st.text(alphabet="aA1-_", max_size=4), max_size=4), st.booleans())
def test_places_are_those_of_the_slow_search(text: str, forms: list[str], many: bool) -> None:
    slow: dict[str, list[tuple[int, int]]] = {}
    for form in filter(None, forms):
        places = [
            (at, at + len(form))
            for at in range(len(text))
            if text.startswith(form, at)
            and not (at > 0 and text[at - 1].isalnum())
            and not text[at + len(form) : at + len(form) + 1].isalnum()
        ]
        if places:
            slow[form] = places
    assert find_occurrences(text, [*forms, *OTHERS] if many else forms) == slow


def test_many_forms_in_a_long_text_take_little_time() -> None:
    forms = [f"A-{number}" for number in range(5_000)]
    text = " ".join(forms * 4)
    begun = time.process_time()
    found = find_occurrences(text, [*forms, "x" * 10_000])
    assert time.process_time() - begun < 3
    assert sorted(map(len, found.values())) == [4] * 5_000
