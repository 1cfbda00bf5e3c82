"""The recording: what changes from run to run is left out, and what changes in an answer is
seen.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.recording.__main__ import commands, compared, recorded, renames_of

from fascicle.cli import COMMANDS


def test_the_list_has_two_hundred_commands_of_every_verb() -> None:
    lines = commands()
    assert len(lines) >= 200
    assert set(COMMANDS) <= {line.split()[1] for line in lines if len(line.split()) > 1}


@pytest.mark.slow
def test_two_recordings_of_one_checkout_are_equal() -> None:
    checkout = Path(__file__).parents[2]
    first, second = (dict(recorded(checkout, only="corpus stats gold")) for _ in range(2))
    assert first
    assert compared(first, second, renames={}) == 0


def test_a_changed_answer_is_seen_and_a_renamed_word_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "renames.tsv"
    table.write_text("--types\t--describe\n")
    before, after = (
        {"x": {"exit": 0, "out": "give --types"}},
        {"x": {"exit": 0, "out": "give --describe"}},
    )
    assert compared(before, after, renames={}) == 1
    assert compared(before, after, renames=renames_of(table)) == 0
    assert compared(before, {"x": {"exit": 2, "out": "give --types"}}, renames={}) == 1
    assert "1 of 1 answers differ" in capsys.readouterr().out
