"""First and last characters, by hand."""

from __future__ import annotations

import pytest

from fascicle.core.document import GOLD, Document, Mention
from studies.binder.borders import ends_less_starts


def test_ends_and_starts_by_hand() -> None:
    text = "0123456789"
    gold = [[(0, 2), (4, 6)], [(1, 3)]]
    said = [[(1, 2), (4, 6)], [(0, 3), (5, 7)]]

    def documents(spans: list[list[tuple[int, int]]], source: str) -> list[Document]:
        return [
            Document(
                id=str(at),
                text=text,
                mentions=tuple(Mention(((a, b),), "X", source=source) for a, b in of),
            )
            for at, of in enumerate(spans)
        ]

    found = ends_less_starts(documents(gold, GOLD), documents(said, "model"), {})
    # three ends and one start are right, of three gold mentions and four predicted ones
    assert found["estimate"] == pytest.approx(2 * 3 / 7 - 2 * 1 / 7)
    assert found["low"] <= found["estimate"] <= found["high"]
