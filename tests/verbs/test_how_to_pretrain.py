"""The page on pretraining shows the recipe of its example; ``tests/docs/test_code_blocks.py``
runs its commands.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.pages import blocks

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "pretraining" / "recipe.toml"
PAGE = (ROOT / "docs" / "how-to-pretrain.md").read_text(encoding="utf-8")


def test_what_the_page_shows_is_what_the_example_holds() -> None:
    (shown,) = map(tomllib.loads, blocks(PAGE, "toml"))
    assert shown == tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))
