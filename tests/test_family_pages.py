"""The pages of the families say what the code does: settings, losses, costs, recipes; every link
has an end.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

pytest.importorskip("torch")

from tests.pages import blocks

from fascicle.core.document import Mention
from fascicle.core.mention import Span
from fascicle.models.heads.contract import Basis
from fascicle.models.model import make_head
from fascicle.settings.heads import HEADS, AnyHead, HeadSettings
from fascicle.settings.recipes.any import parse_recipe
from fascicle.settings.recipes.recogniser import (
    BundleSettings,
    DecisionSettings,
    DistantSettings,
    ReadingSettings,
    Recipe,
)
from fascicle.settings.types import parse_types
from fascicle.text.pieces import Pieces
from fascicle.text.targets import align
from fascicle.text.windows import make_windows

ROOT = Path(__file__).resolve().parents[1]
# the overview; and no head on an encoder (tests/test_span_typer_page.py)
OTHERS = {"index", "span-typer"}
PAGES = {
    path.stem: path.read_text(encoding="utf-8")
    for path in (ROOT / "docs" / "families").glob("*.md")
    if path.stem not in OTHERS
}
SETTINGS: dict[str, type[msgspec.Struct]] = {
    **HEADS,
    "bundle": BundleSettings,
    "decision": DecisionSettings,
    "distant": DistantSettings,
    "reading": ReadingSettings,
}
BLOCKS = [(name, block) for name in sorted(PAGES) for block in blocks(PAGES[name], "toml")]
DESCRIBED = [block for _, block in BLOCKS if block.startswith("[[type]]")]
SNIPPETS = [(name, block) for name, block in BLOCKS if block not in DESCRIBED]
TYPES = ("A", "B", "C")
each_family = pytest.mark.parametrize("family", sorted(HEADS.keys() & PAGES.keys()))


def read(snippet: str) -> Recipe:
    """A recipe of a part of one."""
    values: dict[str, Any] = {
        "name": "x",
        "corpus": {"train": "a", "dev": "b"},
        "model": {"encoder": "e"},
    }
    return parse_recipe({**values, **tomllib.loads(snippet)}, origin="snippet")


def head_of(settings: HeadSettings) -> Any:
    if settings.needs.reads:
        # reads no text, so it needs no encoder
        settings = msgspec.structs.replace(settings, type_view="atomic")
    return make_head(settings, Basis(types=TYPES, width=8))


def test_every_family_has_a_page() -> None:
    assert sorted(SETTINGS.keys() - PAGES.keys()) == [], (
        "write docs/families/NAME.md for each of these"
    )
    assert PAGES.keys() == SETTINGS.keys()
    assert {name for name, _ in SNIPPETS} == PAGES.keys()


@pytest.mark.parametrize("name", sorted(SETTINGS.keys() & PAGES.keys()))
def test_a_page_lists_every_setting_with_its_default(name: str) -> None:
    listed = dict(re.findall(r"^\| `(\w+)` \| `([^|]+)` \|", PAGES[name], re.MULTILINE))
    fields = [field for field in msgspec.structs.fields(SETTINGS[name]) if field.name != "head"]
    defaults = {field.name: field.default for field in fields if not field.required}
    assert {key: json.loads(value) for key, value in listed.items()} == json.loads(
        json.dumps(defaults)
    )
    required = re.findall(r"^\| `(\w+)` \| required \|", PAGES[name], re.MULTILINE)
    assert required == [field.name for field in fields if field.required]


@pytest.mark.parametrize(("name", "snippet"), SNIPPETS, ids=lambda value: value.split()[0])
def test_a_snippet_is_part_of_a_recipe(name: str, snippet: str) -> None:
    recipe = read(snippet)
    plain = Recipe(name="x", corpus=recipe.corpus, model=recipe.model)
    changed = (
        recipe.model.head.family == name
        if name in HEADS
        else getattr(recipe, name) != getattr(plain, name)
    )
    assert changed


def test_types_are_described_as_the_pages_say() -> None:
    assert DESCRIBED
    for block in DESCRIBED:
        (one,) = parse_types(tomllib.loads(block), origin="snippet").types
        assert one.description
        assert one.keyword
        assert one.examples


def forms(family: str) -> Iterator[HeadSettings]:
    """The settings of a family with every scheme and decoding; span heads with a width of 3."""
    kind = HEADS[family]
    choices = {
        "scheme": ("BIO", "IO"),
        "decoding": ("strict", "lenient", "viterbi", "nested", "greedy", "optimal"),
        "breakers": ("", "c"),
    }
    kept = {name: values for name, values in choices.items() if name in kind.__struct_fields__}
    fixed = {"family": family, **({"width": 3} if "width" in kind.__struct_fields__ else {})}
    for values in product(*kept.values()):
        with suppress(msgspec.ValidationError):
            yield msgspec.convert({**fixed, **dict(zip(kept, values, strict=True))}, AnyHead)


def mention(*spans: Span, kind: str = "A") -> Mention:
    return Mention(spans, kind)


# Eight words of two letters, 3 characters apart, in sentences of six and two, read through windows
# of four.
LOSSES = (
    [mention((0, 2), (6, 8))],
    [mention((2, 3))],
    [mention((0, 1))],
    [mention((15, 20))],
    [mention((6, 14))],
    [mention((0, 11))],
    [mention((0, 2)), mention((0, 2), kind="B")],
    [mention((0, 2)), mention((3, 5))],
    [mention((0, 5)), mention((3, 5))],
)


@each_family
def test_a_page_names_every_reason_for_which_gold_is_lost(family: str) -> None:
    """Found by losing a mention in every way to every form of the family."""
    words = np.array([(3 * i, 3 * i + 2) for i in range(8)])
    pieces = Pieces(
        ids=np.zeros(8, dtype=np.int64),
        spans=words,
        units=words,
        first=np.arange(8),
        unit_of=np.arange(8),
        sentences=np.array([(0, 6), (6, 8)]),
        text="aa bb cc dd ee ff gg hh",
    )
    windows = make_windows(pieces, document=0, unit="sentence", capacity=4, overlap=1)
    reasons: set[str] = set()
    for settings, mentions in product(forms(family), LOSSES):
        reasons |= align(
            mentions, pieces, windows, types=TYPES, limits=head_of(settings).limits
        ).lost.keys()
    table = PAGES[family].partition("**What is lost**")[2].partition("**What it costs**")[0]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == reasons


def size(**values: Any) -> int:
    """Parameters of a head with d = 8 and K = 3."""
    return sum(
        parameter.numel() for parameter in head_of(msgspec.convert(values, AnyHead)).parameters()
    )


def test_the_parameters_are_as_many_as_the_pages_say() -> None:
    """With C = 7 tags or 4 classes, K = 3 types, L = 6, e = 5, h = 3."""
    c, d, longest, e, h = 4, 8, 6, 5, 3
    span = {"family": "span", "width": longest}
    biaffine = {"family": "biaffine", "width": longest, "hidden": h}
    binder, atomic = {"family": "binder", "hidden": h, "width_embedding": e}, 3 * d
    width = e * (h + 512)
    counts = {
        ("softmax", "C(d + 1) parameters"): (size(family="softmax"), 7 * (d + 1)),
        ("multilabel", "C(d + 1) parameters"): (size(family="multilabel"), 7 * (d + 1)),
        ("crf", "C² + 2C parameters"): (size(family="crf") - size(family="softmax"), 7 * 7 + 2 * 7),
        ("span", '`"boundary"` | first unit, last unit | C(2d + 1)'): (
            size(**span),
            c * (2 * d + 1),
        ),
        ("span", '`"pooling"` | maximum over its units, whole text | C(2d + 1)'): (
            size(**span, representation="pooling"),
            c * (2 * d + 1),
        ),
        ("span", '`"hybrid"` | all four | C(4d + 1)'): (
            size(**span, representation="hybrid"),
            c * (4 * d + 1),
        ),
        ("span", "e(L + C) parameters"): (
            size(**span, width_embedding=e) - size(**span),
            e * (longest + c),
        ),
        ("biaffine", "2h(d + 1) + h²C + 2hC + C parameters"): (
            size(**biaffine),
            2 * h * (d + 1) + h * h * c + 2 * h * c + c,
        ),
        ("biaffine", "e(L + C) for the width"): (
            size(**biaffine, width_embedding=e) - size(**biaffine),
            e * (longest + c),
        ),
        ("binder", "7dh + 6h + e(h + 512) + 3 parameters"): (
            size(**binder) - atomic,
            7 * d * h + 6 * h + width + 3,
        ),
        ("binder", "with `shared` 2h(d + 1) + e(h + 512) + 3"): (
            size(**binder, shared=True) - atomic,
            2 * h * (d + 1) + width + 3,
        ),
    }
    for (page, said), (found, expected) in counts.items():
        assert said in PAGES[page]
        assert found == expected


@pytest.mark.parametrize(
    "page", sorted({ROOT / "README.md", *(ROOT / "docs").rglob("*.md")}), ids=lambda path: path.name
)
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []
