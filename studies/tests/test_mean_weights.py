"""The mean of the weights of two models."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from studies.conventions.mean import mixed  # noqa: E402


def test_a_share_is_of_the_first_model() -> None:
    own = {"a": torch.tensor([4.0, 8.0])}
    other = {"a": torch.tensor([0.0, 4.0])}
    assert mixed(own, other, share=0.25)["a"].tolist() == [1.0, 5.0]
    assert mixed(own, other, share=1.0)["a"].tolist() == [4.0, 8.0]


def test_other_layers_are_refused() -> None:
    with pytest.raises(ValueError, match=r"differ in name or shape: a, b"):
        mixed({"a": torch.zeros(2)}, {"a": torch.zeros(3), "b": torch.zeros(1)}, share=0.5)
