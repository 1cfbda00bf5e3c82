"""The two sides whose times are compared compute the same: the loss, and its gradients."""

from __future__ import annotations

import pytest
import torch

from studies.speed import contrast as contrast_speed


@pytest.mark.parametrize("words", [False, True], ids=["pieces", "words"])
def test_both_sides_have_one_loss(monkeypatch: pytest.MonkeyPatch, words: bool) -> None:
    script = contrast_speed
    monkeypatch.setattr(script, "ROWS", 3)
    monkeypatch.setattr(script, "WIDTH", 24)
    case = script.case_of(18, words=words)
    assert torch.equal(case.first, case.last) is not words
    (ours, *own), (theirs, *other) = case.step("fascicle"), case.step("literal")
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-4)
    for mine, yours in zip(own, other, strict=True):
        torch.testing.assert_close(mine, yours, atol=1e-4, rtol=1e-3)
