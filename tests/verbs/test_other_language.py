"""Texts in another language than those that a model learnt from are named once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

FRENCH = (
    "Les patients atteints de diabète de type 2 ont reçu de la metformine pendant six mois dans cet "
    "essai clinique, avec une dose moyenne de 2 g par jour."
)


def test_the_shipped_models_say_once_that_a_text_is_in_another_language(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text(FRENCH, encoding="utf-8")
    (tmp_path / "english.txt").write_text("Metformin was given to patients.", encoding="utf-8")
    result = cli("annotate", tmp_path, "-o", tmp_path / "out.jsonl", "--model", "biomed-fast")
    assert result.code == 0
    assert result.err.count("this looks like French, and biomed-fast@2 reads English") == 1
    assert "other-language: 3" in result.err
