"""Tests of what is counted of composed names that were read."""

import json
from pathlib import Path

from studies.packs.tables import composed, composed_in_words
from studies.tables.grids import NOT_RUN

_READ = {"read": 4, "right": 3, "finding": 1, "change": 1, "denied": 1}


def test_the_answers_of_both_draws_are_in_the_tables(tmp_path: Path) -> None:
    assert composed(tmp_path) == composed_in_words(tmp_path) == NOT_RUN
    read = dict.fromkeys(("first", "fresh"), _READ | {"interval": [0.3006, 0.9544]})
    told = {"forms": 8, "found": 7, "found without composed names": 1, "read": read, "cost": 1.5}
    (tmp_path / "qualities-found.json").write_text(json.dumps(told))
    assert "Of 8 other forms of names of HPO in abstracts, 87.5 % are found." in composed_in_words(
        tmp_path
    )
    rows = composed(tmp_path).splitlines()
    assert rows[4].split(" | ")[1:] == ["4", "75.0 % (30.1 to 95.4) |"]
    assert len(rows) == 2 + 2 + 2 * 4
