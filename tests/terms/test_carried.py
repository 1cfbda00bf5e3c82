"""The part of a pack that goes with a model, and packs as finders."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.packs import REAL_PARTS, build_small

from fascicle.core.document import Document
from fascicle.errors import ModelError
from fascicle.settings.inputs import RecognitionSettings
from fascicle.terms.curation import Curation, CurationRule
from fascicle.terms.finding import CombinedFinder, PackFinder
from fascicle.terms.pack.carried import PARTS, CarriedPack, carried_files, carried_size
from fascicle.terms.pack.pack import Pack
from fascicle.terms.recognising import PackRecogniser

FILE = "dictionary-1.pack"
WORDS = (
    "breast",
    "Breast cancer",
    "tumors",
    "CAT",
    "cat",
    "Catalase",
    "Brustkrebs",
    "cancers",
    "of",
    "old growth",
)


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    rules = Curation([CurationRule(action="ner_off", surface="Tumor")])
    return build_small(
        tmp_path_factory.mktemp("carried") / "pack", parts=replace(REAL_PARTS, curation=rules)
    )


def unpack(pack: Pack, folder: Path) -> Path:
    for name, content in carried_files(pack, FILE).items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture(scope="module")
def carried(pack: Pack, tmp_path_factory: pytest.TempPathFactory) -> CarriedPack:
    return CarriedPack(unpack(pack, tmp_path_factory.mktemp("model")), FILE)


@settings(deadline=None, max_examples=60)
@given(
    words=st.lists(st.sampled_from(WORDS), max_size=8), threshold=st.sampled_from([0.0, 0.3, 0.9])
)
def test_it_finds_what_the_pack_finds(
    pack: Pack, carried: CarriedPack, words: list[str], threshold: float
) -> None:
    text = " ".join(words)
    told = RecognitionSettings(overlaps="all", links=False, threshold=threshold)
    both = [PackRecogniser({"a": one}, settings=told)(text).mentions for one in (pack, carried)]
    assert both[0] == both[1]


def test_it_is_smaller_and_says_whose_the_names_are(pack: Pack, carried: CarriedPack) -> None:
    assert carried.full_name == pack.full_name
    assert carried.manifest == pack.manifest
    files = carried_files(pack, FILE)
    assert carried_size(pack) == sum(
        len(content) for name, content in files.items() if name != FILE
    )
    assert carried_size(pack) < sum(facts.size for facts in pack.manifest.files.values())


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4])


def raise_all(path: Path) -> None:
    path.write_bytes(b"\xff" * path.stat().st_size)


@pytest.mark.parametrize("name", ["", *(f".{part}" for part in PARTS)])
@pytest.mark.parametrize("damage", [Path.unlink, cut, raise_all])
def test_what_is_damaged_is_refused_or_found_by_its_hash(
    pack: Pack, tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    unpack(pack, tmp_path)
    damage(tmp_path / f"{FILE}{name}")
    if damage is raise_all and name.endswith((".f4", "bytes.u1", "flags.u1")):
        return  # any value may stand there; the hash in model.json tells
    with pytest.raises(ModelError, match="again"):
        CarriedPack(tmp_path, FILE)


def test_keys_of_another_release_are_refused(pack: Pack, tmp_path: Path) -> None:
    unpack(pack, tmp_path)
    text = (
        (tmp_path / FILE).read_text(encoding="utf-8").replace(pack.manifest.normaliser, "keys@99")
    )
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match="keys@99"):
        CarriedPack(tmp_path, FILE)


def test_places_have_all_their_types(pack: Pack, tmp_path: Path) -> None:
    shutil.copytree(pack.folder, tmp_path / "copy")
    finder = PackFinder({"a": pack, "b": Pack.open(tmp_path / "copy")}, overlaps="longest")
    documents = [Document(id="a", text="breast cancer and CAT"), Document(id="b", text="none")]
    found = list(finder.matches(documents))
    assert [[(one.start, one.end, one.types) for one in of_one] for of_one in found] == [
        [(0, 13, ("Disease",)), (18, 21, ("Gene",))],
        [],
    ]
    assert finder.types == ("Disease", "Gene")
    assert finder.name == f"{pack.full_name} {pack.full_name}"


def test_finders_together_find_what_each_finds(pack: Pack, carried: CarriedPack) -> None:
    documents = [Document(id=str(at), text=" ".join(WORDS[at:])) for at in range(len(WORDS))]
    finders = [
        PackFinder({"a": one}, overlaps=how)
        for one, how in ((pack, "longest"), (carried, "nested"))
    ]
    together = list(CombinedFinder(finders).matches(iter(documents)))
    alone = [list(finder.matches(documents)) for finder in finders]
    assert together == [one + other for one, other in zip(*alone, strict=True)]
    assert any(together)
