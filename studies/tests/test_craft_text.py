"""What we read of the articles of CRAFT is its official text, but for differences that are
known.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from studies.formats import craft_text


@pytest.mark.slow
def test_the_official_texts_of_craft(fascicle_data: Path) -> None:
    kinds: Counter[str] = Counter()
    for _, official, ours, short in craft_text.texts_of(fascicle_data / "craft"):
        kinds.update(kind for kind, _ in craft_text.differences(official, ours, short))
    rest = {"blanks": 82, "added heading": 181, "short abstract": 20, "keywords": 2}
    # with raised marks of notes
    assert kinds == {"same": 9_489, **rest, "official alone": 17, "ours alone": 17}
