"""Quotes of Europe PMC in a text: the oracle tries every place of the text, and counts what
agrees around it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.errors import FormatError
from fascicle.formats import read

WORDS = st.sampled_from(["gout", "BRCA1", "a", "in", "gout-like", "β", "\U0001f600", "in a"])


def _agreeing(one: str, other: str) -> int:
    """How many characters two texts have in common from their beginning; blanks do not count."""
    one, other = "".join(one.split()), "".join(other.split())
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count


def _place(text: str, quote: dict[str, Any], taken: set[tuple[int, int]]) -> tuple[int, int] | None:
    """The first of the best places that is not taken, found by trying all."""
    wanted, best = quote["exact"].split(), -1
    scored: list[tuple[int, tuple[int, int]]] = []
    end = 0
    for start in range(len(text)):
        # One place for each beginning, and none inside the one before, as a search from the left
        # finds them.
        stops = [
            stop for stop in range(start + 1, len(text) + 1) if text[start:stop].split() == wanted
        ]
        if start < end or not stops or text[start].isspace():
            continue
        end = stops[0]
        score = _agreeing(quote["prefix"][::-1], text[:start][::-1]) + _agreeing(
            quote["postfix"], text[end:]
        )
        scored.append((score, (start, end)))
        best = max(best, score)
    return next((place for score, place in scored if score == best and place not in taken), None)


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=14), st.sampled_from([" ", "  ", "\n"]), st.data())
def test_a_quote_is_placed_where_most_agrees(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], blank: str, data: st.DataObject
) -> None:
    text = blank.join(words)
    quotes = []
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(words) - 1))
        around = data.draw(st.integers(0, 4))
        before, after = words[max(0, at - around) : at], words[at + 1 : at + 1 + around]
        quote = {
            "exact": words[at],
            "prefix": " ".join([*before, ""]),
            "postfix": " ".join(["", *after]),
            "type": "X",
        }
        quotes.append({**quote, "tags": [{"name": "n", "uri": "MESH:D1"}]})
    quotes.append({"exact": "absent", "prefix": "", "postfix": "", "type": "X", "tags": []})
    folder = tmp_path_factory.mktemp("quotes")
    (folder / "PMC1.txt").write_text(text, encoding="utf-8")
    article = [{"extId": "1", "pmcid": "PMC1", "annotations": quotes}]
    (folder / "a.json").write_text(json.dumps(article), encoding="utf-8")
    (found,) = read(folder / "a.json", format="records")
    wanted: set[tuple[int, int]] = set()
    for quote in quotes:
        if place := _place(text, quote, wanted):
            wanted.add(place)
    assert {(one.start, one.end) for one in found.mentions} == wanted
    assert "offset-outside" in [event.code for event in found.events]


@pytest.mark.parametrize("name", ["1" * 300, "../secret", "inside/../../secret"])
def test_an_id_that_names_no_file_beside_the_annotations_has_no_text(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "secret.txt").write_text("a secret", encoding="utf-8")
    (tmp_path / "here" / "inside").mkdir(parents=True)
    article = {"extId": name, "annotations": [{"exact": "a", "type": "X", "tags": []}]}
    (tmp_path / "here" / "a.json").write_text(json.dumps([article]), encoding="utf-8")
    with pytest.raises(FormatError, match="put it beside them"):
        list(read(tmp_path / "here" / "a.json", format="records"))


def test_two_annotations_of_one_quote_are_one_mention_with_both_links(tmp_path: Path) -> None:
    """An answer of the Annotations API has an annotation for each identifier of the same words."""
    (tmp_path / "PMC1.txt").write_text("We saw insulin today.")
    quote = {"exact": "insulin", "prefix": "We saw ", "postfix": " today.", "type": "Chemicals"}
    article = {
        "source": "PMC",
        "extId": "1",
        "pmcid": "PMC1",
        "annotations": [
            {**quote, "tags": [{"name": name, "uri": f"http://x.org/{name}"}]} for name in "ab"
        ],
    }
    (tmp_path / "a.json").write_text(json.dumps([article]))
    (document,) = read(tmp_path / "a.json")
    (mention,) = document.mentions
    assert [link.id for link in mention.links] == ["http://x.org/a", "http://x.org/b"]
    assert document.events == ()
