"""Linkers of several packs as one, in folders that name their packs."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest
from tests.support.linking import RECORDS, corpus, document
from tests.support.packs import REAL_PARTS, build_small

from fascicle.core.document import Document
from fascicle.core.mention import Link
from fascicle.core.patches import apply
from fascicle.errors import InputError, PackError, UsageError
from fascicle.linking.fitting import FitSettings
from fascicle.linking.linker import Linker
from fascicle.linking.opening import SEVERAL, Linkers, find
from fascicle.settings.folders.vocabularies import LINKER
from fascicle.terms.terms import ConceptRecord, Name
from fascicle.verbs.linker import fit_folder

OTHER = {
    "other": [
        ConceptRecord(curie="X:1", type="Disease", names=(Name("breast cancer", "label"),)),
        ConceptRecord(curie="X:2", type="Disease", names=(Name("rare disease", "label"),)),
        ConceptRecord(
            curie="NCBITaxon:10090", type="Species", names=(Name("the small animal", "label"),)
        ),
    ]
}
TEXT = "Breast cancer and rare disease, and nothing."
MENTIONS = (
    ("Breast cancer", "Disease", ""),
    ("rare disease", "Disease", ""),
    ("nothing", "Disease", ""),
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two packs, and a linker of both in either order."""
    place = tmp_path_factory.mktemp("home")
    build_small(place / "first", RECORDS, parts=REAL_PARTS)
    build_small(place / "second", OTHER, parts=REAL_PARTS)
    fit_folder([place / "first", place / "second"], place / "both", documents=corpus())
    fit_folder([place / "second", place / "first"], place / "reversed")
    fit_folder(place / "first", place / "one", documents=corpus())
    fit_folder(place / "second", place / "two")
    return place


def linked(linker: Linker | Linkers, *documents: Document) -> list[dict[str, list[Link]]]:
    """The links of each document, by the words of its mentions."""
    done = [
        apply(one, patch) for one, patch in zip(documents, linker.predict(documents), strict=True)
    ]
    return [{one.text: list(one.links) for one in each} for each in done]


def of(folder: Path | list[Path]) -> Linkers:
    found = find(folder).opened()
    assert isinstance(found, Linkers)
    return found


def test_the_first_pack_with_a_concept_decides(home: Path) -> None:
    (found,) = linked(of(home / "both"), document(TEXT, *MENTIONS))
    assert [found[words][0].curie for words, _, _ in MENTIONS] == ["MESH:D1", "X:2", ""]
    assert found["nothing"][0].nil
    assert found["Breast cancer"][0].score is not None
    assert found["rare disease"][0].score is None  # of a pack without annotated texts
    (turned,) = linked(of(home / "reversed"), document(TEXT, *MENTIONS))
    assert [turned[words][0].curie for words, _, _ in MENTIONS] == ["X:1", "X:2", ""]


def test_several_say_what_each_says_alone(home: Path) -> None:
    """The oracle: one linker after the other by hand."""
    texts = [*corpus(6), document(TEXT, *MENTIONS)]
    bare = [
        msgspec.structs.replace(
            one, mentions=tuple(msgspec.structs.replace(each, links=()) for each in one.mentions)
        )
        for one in texts
    ]
    alone = [linked(Linker.open(*part), *bare) for part in find(home / "both").parts]
    for found, first, second in zip(linked(of(home / "both"), *bare), *alone, strict=True):
        for words, links in found.items():
            answers = [
                own[words] for own in (first, second) if own[words] and not own[words][0].nil
            ]
            assert links == (answers or [first[words] or second[words]])[0]


def test_a_type_that_no_pack_has_is_not_linked(home: Path) -> None:
    both, one = of(home / "both"), find(home / "one").opened()
    found = document(
        "A place and breast cancer",
        ("A place", "Location", ""),
        ("breast cancer", "SpecificDisease", ""),
    )
    for linker in (both, one):
        assert linker.covers("SpecificDisease")
        assert not linker.covers("Location")
        (patch,) = linker.predict([found])
        assert [key[1] for key, _ in patch.links] == ["SpecificDisease"]
    assert both.covers("Species")
    assert not one.covers("Species")


def test_species_of_one_pack_decide_genes_of_another(home: Path) -> None:
    text = "In the small animal telomerase is found."
    mentions = (("the small animal", "Species", ""), ("telomerase", "Gene", ""))
    (found,) = linked(of(home / "reversed"), document(text, *mentions))
    assert found["telomerase"][0].curie == "NCBIGene:2"
    (alone,) = linked(of(home / "reversed"), document(text, mentions[1]))
    assert alone["telomerase"][0].curie == "NCBIGene:1"


def test_links_say_where_they_are_from(home: Path) -> None:
    found = document(TEXT, *MENTIONS)
    (patch,) = of(home / "both").predict([found])
    first, second = apply(found, patch).origins
    assert "MESH" in first
    assert "X" in second
    (none,) = of(home / "both").predict([document("nothing", ("nothing", "Disease", ""))])
    assert not none.events


def test_why_is_told_by_the_linker_that_links(home: Path) -> None:
    found = document(TEXT, *MENTIONS)
    (told,) = of(home / "both").explained([found])
    assert [one.surface for one in told] == [words for words, _, _ in MENTIONS]
    assert [one.link.curie for one in told] == ["MESH:D1", "X:2", ""]


def test_a_fingerprint_tells_linkers_apart(home: Path, tmp_path: Path) -> None:
    marks = {name: find(home / name).fingerprint for name in ("both", "reversed", "one", "two")}
    assert len(set(marks.values())) == len(marks)
    fit_folder(home / "first", tmp_path / "again", documents=corpus())
    assert find(tmp_path / "again").fingerprint == marks["one"]  # wherever it is
    fit_folder(home / "first", tmp_path / "other", documents=corpus(36))
    assert find(tmp_path / "other").fingerprint != marks["one"]
    opened = [find(home / name).opened().fingerprint for name in marks]
    assert len(set(opened)) == len(marks)
    assert find(home / "one", ontology="DOID").opened().fingerprint not in opened


def test_packs_are_found_where_they_were_or_given(home: Path, tmp_path: Path) -> None:
    moved = tmp_path / "deep" / "both"
    shutil.copytree(home / "both", moved)
    with pytest.raises(PackError, match="pack="):
        find(moved)
    found = find(moved, [home / "second", home / "first"])
    assert [part.pack.folder.name for part in found.parts] == ["first", "second"]
    with pytest.raises(UsageError, match="no use"):
        find(home / "one", [home / "first", home / "second"])
    with pytest.raises(PackError, match="fitted with the pack"):
        find(home / "one", [home / "second"])


def test_an_ontology_of_one_pack_is_enough(home: Path) -> None:
    found = find(home / "both", ontology="DOID").opened()
    assert find(home / "both", ontology="DOID").fingerprint != find(home / "both").fingerprint
    (patch,) = found.predict([document("breast cancer", ("breast cancer", "Disease", ""))])
    assert [link.curie for _, links in patch.links for link in links] == ["DOID:1"]
    with pytest.raises(UsageError, match="no concept"):
        find(home / "both", ontology="NOWHERE")


def test_linkers_and_packs_are_given_in_order(home: Path) -> None:
    """The oracle: the folder in which the same linkers were joined; a pack alone links as one
    that was not fitted.
    """
    texts = [document(TEXT, *MENTIONS), *corpus(6)]
    bare = [
        msgspec.structs.replace(
            one, mentions=tuple(msgspec.structs.replace(each, links=()) for each in one.mentions)
        )
        for one in texts
    ]
    wanted = linked(of(home / "both"), *bare)
    assert wanted == linked(find([home / "both"]).opened(), *bare)
    for second in ("two", "second"):
        found = find([home / "one", home / second])
        assert linked(found.opened(), *bare) == wanted
        assert found.fingerprint != find([home / second, home / "one"]).fingerprint
        (turned,) = linked(find([home / second, home / "one"]).opened(), texts[0])
        assert turned["Breast cancer"][0].curie == "X:1"
    assert find([home / "second"]).covered(["Disease", "Gene"]) == ("Disease",)
    with pytest.raises(UsageError, match="no linker"):
        find([])


def test_what_is_explained_is_ambiguous_where_the_answer_is(home: Path, tmp_path: Path) -> None:
    twice = [
        ConceptRecord(curie=f"Y:{at}", type="Disease", names=(Name("odd disease", "label"),))
        for at in (1, 2)
    ]
    build_small(tmp_path / "odd", {"odd": twice}, parts=REAL_PARTS)
    linker, asked = (
        of([home / "one", tmp_path / "odd"]),
        document("An odd disease.", ("odd disease", "Disease", "")),
    )
    (found,) = linked(linker, asked)
    assert [link.tier for link in found["odd disease"]] == ["ambiguous"] * 2
    ((told,),) = linker.explained([asked])
    assert list(told.links) == found["odd disease"]


def test_a_small_linker_has_neither_index_nor_names(home: Path, tmp_path: Path) -> None:
    small = tmp_path / "small"
    settings = FitSettings(remember=False, indexed=False)
    (made,) = fit_folder(home / "first", small, documents=corpus(), settings=settings)
    assert not made.indexed
    assert made.rankers["Disease"].mentions
    assert {one.name for one in small.iterdir() if one.name[0] != "."} == {LINKER, "names.tsv"}
    assert (small / "names.tsv").read_bytes() == b""
    (found,) = linked(
        find(small).opened(), document("breast cancer", ("breast cancer", "Disease", ""))
    )
    assert found["breast cancer"][0].curie == "MESH:D1"


def test_a_linker_is_opened_as_it_was_found(home: Path, tmp_path: Path) -> None:
    """Its manifest is read once; its other files are checked again, since it may be opened much
    later.
    """
    linker = tmp_path / "linker"
    fit_folder(home / "first", linker, documents=corpus())
    found = find(linker)
    wanted = found.opened().fingerprint
    shutil.copy(home / "two" / LINKER, linker / LINKER)
    assert found.opened().fingerprint == wanted
    with pytest.raises(PackError, match="is not at"):
        find(linker)
    (linker / "names.tsv").write_text("Disease\tat\tMESH:D3\t1\n")
    with pytest.raises(PackError, match="was changed"):
        found.opened()


def test_a_linker_that_lost_its_index_is_refused(home: Path, tmp_path: Path) -> None:
    fit_folder(home / "first", tmp_path / "linker")
    (tmp_path / "linker" / "index.json").unlink()
    with pytest.raises(PackError, match="index"):
        find(tmp_path / "linker").opened()


def test_a_changed_part_is_refused(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "both"
    fit_folder([home / "first", home / "second"], folder)
    place = folder / "1" / LINKER
    place.write_bytes(place.read_bytes() + b"\n")
    with pytest.raises(PackError, match="changed"):
        find(folder)
    (folder / SEVERAL).write_text('{"format": 1, "parts": {"../one": "00"}}', encoding="utf-8")
    with pytest.raises(PackError, match="copy the linker"):
        find(folder)


def test_texts_without_links_to_any_pack_are_refused(home: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="20 mentions"):
        fit_folder([home / "first", home / "second"], tmp_path / "linker", documents=corpus(2))
    with pytest.raises(InputError, match="2 packs"):
        fit_folder(home / "first", tmp_path / "linker", index_of=home / "both")
    assert not list(tmp_path.iterdir())
