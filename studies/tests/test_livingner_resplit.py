"""The parts made of the free sentences of LivingNER: each sentence once, in order, and none of
test in train or dev.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.formats.files import read
from studies.combining import livingner_resplit as script

TEXTS = st.lists(
    st.sampled_from(["Afebril .", "AFEBRIL .", "Estable .", "Fiebre .", "Straße .", "STRASSE ."])
)


@given(TEXTS, TEXTS)
def test_what_test_has_is_left_out_and_all_else_is_kept_in_order(
    valid: list[str], test: list[str]
) -> None:
    parts = script.resplit(
        [Document(id=str(at), text=text) for at, text in enumerate(valid)],
        [Document(id=f"t{at}", text=text) for at, text in enumerate(test)],
    )
    naive = [
        str(at)
        for at, text in enumerate(valid)
        if not any(text.casefold() == one.casefold() for one in test)
    ]
    assert [document.id for document in (*parts["train"], *parts["dev"])] == naive
    assert len(parts["train"]) == len(naive) * 4 // 5
    assert [document.text for document in parts["test"]] == test


def test_the_parts_hold_what_is_at_hand(
    fascicle_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["livingner_resplit.py", str(tmp_path)])
    assert script.main() == 0
    parts = {part: list(read(tmp_path / f"{part}.jsonl")) for part in ("train", "dev", "test")}
    assert [len(part) for part in parts.values()] == [6_260, 1_565, 7_953]
    assert {m.type for part in parts.values() for one in part for m in one.mentions} == {
        "HUMAN",
        "SPECIES",
    }
    assert "test: 7,953 sentences" in capsys.readouterr().out
