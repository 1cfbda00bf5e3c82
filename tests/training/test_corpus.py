"""Some types of a corpus, or other names for them: what is left, what is counted, and what makes
two runs differ.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import GOLD, Document, Mention
from fascicle.errors import FascicleError, InputError, RecipeError
from fascicle.settings.recipes.corpora import CorpusSettings, CorpusTypes
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus import check_labels, choose_types, read_part
from fascicle.training.engine.events import Note
from fascicle.training.engine.folder import recipe_text
from fascicle.training.experiments.hashes import changed_values, recipe_hash
from fascicle.training.recogniser.parts import read_parts
from fascicle.training.run import run_recipe

Maker = Callable[..., Recipe]
TEXT = "a b c d e f g"
MENTIONS = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.integers(1, 2),
        st.sampled_from("ABC"),
        st.sampled_from([GOLD, "model"]),
    ),
    unique=True,
    max_size=8,
)


@given(
    documents=st.lists(MENTIONS, max_size=3),
    keep=st.sets(st.sampled_from("ABC")),
    rename=st.dictionaries(st.sampled_from("ABC"), st.sampled_from("ABX"), max_size=3),
)
def test_what_is_left_and_what_is_counted(
    documents: list[list[tuple[int, int, str, str]]], keep: set[str], rename: dict[str, str]
) -> None:
    rename = {label: name for label, name in rename.items() if not keep or label in keep}
    if not keep and not rename:
        return
    given_ = [
        Document(
            id=str(i),
            text=TEXT,
            mentions=tuple(Mention(((2 * a, 2 * (a + n)),), t, source=s) for a, n, t, s in ms),
        )
        for i, ms in enumerate(documents)
    ]
    wanted = CorpusTypes(keep=tuple(sorted(keep)), rename=rename)
    chosen = choose_types(given_, wanted)
    gold = [[(m.type, m.spans) for m in d.layer(GOLD)] for d in given_]
    expected = [
        {(rename.get(t, t), spans) for t, spans in of if not keep or t in keep} for of in gold
    ]
    assert [{(m.type, m.spans) for m in d.layer(GOLD)} for d in chosen.documents] == expected
    assert [d.layer("model") for d in chosen.documents] == [d.layer("model") for d in given_]
    labels = Counter(t for of in gold for t, _ in of)
    assert chosen.labels == labels
    assert chosen.left_out == Counter({t: n for t, n in labels.items() if keep and t not in keep})
    assert chosen.renamed == Counter({t: n for t, n in labels.items() if t in rename})
    left = sum(map(len, expected))
    assert chosen.merged == labels.total() - chosen.left_out.total() - left
    assert sum(len(d.layer(GOLD)) for d in chosen.documents) == left
    dropped = (
        CorpusTypes(drop=tuple(sorted(set("ABC") - keep)), rename=rename)
        if keep and keep != set("ABC")
        else None
    )
    if dropped is not None:
        assert choose_types(given_, dropped).documents == chosen.documents


def test_all_parts_alike(tiny_recipe: Maker, toy_corpus: Path, tmp_path: Path) -> None:
    types = {"keep": ["Disease"], "rename": {"Disease": "Illness"}}
    recipe = tiny_recipe(corpus={"test": str(toy_corpus), "types": types}, training={"epochs": 1})
    parts = read_parts(recipe.corpus)
    whole = read_part(tiny_recipe().corpus, "train")
    diseases = [{m.spans for m in d.layer(GOLD) if m.type == "Disease"} for d in whole]
    for documents in (parts.train, parts.dev, parts.test):
        assert [{m.spans for m in d.layer(GOLD)} for d in documents] == diseases
        assert {m.type for d in documents for m in d.layer(GOLD)} == {"Illness"}
    assert parts.types == ("Illness",)
    count = sum(map(len, diseases))
    events = list(run_recipe(recipe, tmp_path / "run"))
    notes = [e.text for e in events if isinstance(e, Note)]
    for part in ("train", "dev", "test"):
        assert f"{part}: {18 - count} gold mentions are left out ({18 - count} Chemical)" in notes
        assert f"{part}: {count} gold mentions have another type ({count} Disease)" in notes
    assert events[-1].answer.test.counts.support == count


def test_texts_are_learned_as_they_are_printed(tmp_path: Path) -> None:
    record = {
        "fascicle": 1,
        "id": "1",
        "text": "Li\u00adthium helps.",
        "mentions": [{"spans": [[0, 8]], "type": "Chemical"}],
    }
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n")
    path = str(tmp_path / "a.jsonl")
    corpus = CorpusSettings(format="jsonl", train=path, dev=path)
    assert [
        (m.text_in(d.text), d.text) for d in read_part(corpus, "train") for m in d.mentions
    ] == [("Lithium", "Lithium helps.")]
    assert [d.text for d in read_part(corpus, "dev")] == [record["text"]]


def test_several_types_as_one(tiny_recipe: Maker) -> None:
    types = {"rename": {"Disease": "Entity", "Chemical": "Entity"}}
    assert read_parts(tiny_recipe(corpus={"types": types}).corpus).types == ("Entity",)


def test_a_run_is_known_by_its_types(tiny_recipe: Maker) -> None:
    data = {"train": "x", "dev": "y"}
    plain, some = tiny_recipe(), tiny_recipe(corpus={"types": {"drop": ["Disease"]}})
    other = tiny_recipe(corpus={"types": {"keep": ["Chemical"]}})
    assert len({recipe_hash(r, data) for r in (plain, some, other)}) == 3
    assert '"types"' not in recipe_text(plain)  # as before there was such a table
    assert changed_values(some)["corpus"]["types"] == {"drop": ["Disease"]}
    assert msgspec.json.decode(recipe_text(some), type=Recipe) == some


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"keep": ["A"], "drop": ["B"]}, "keep and drop exclude each other"),
    ({}, "keep, drop or rename"),
    ({"keep": ["A", "A"]}, "keep names 'A' twice"),
    ({"drop": ["A"], "rename": {"A": "B"}}, "rename names 'A', whose mentions are left out"),
    ({"keep": ["A"], "rename": {"B": "C"}}, "rename names 'B', whose mentions are left out"),
    ({"rename": {"A": ""}}, "is not allowed|length >= 1"),
    ({"kep": ["A"]}, r"unknown key corpus\.types\.kep; did you mean corpus\.types\.keep\?"),
    ({"keep": "A"}, r"corpus\.types\.keep = 'A' is not allowed"),
]


@pytest.mark.parametrize(("types", "match"), REFUSED)
def test_tables_that_say_nothing_or_too_much(
    tiny_recipe: Maker, types: dict[str, Any], match: str
) -> None:
    with pytest.raises(RecipeError, match=match) as caught:
        tiny_recipe(corpus={"types": types})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["keep", "drop"])
def test_a_label_that_the_corpus_lacks(tiny_recipe: Maker, key: str, tmp_path: Path) -> None:
    recipe = tiny_recipe(corpus={"types": {key: ["Chemcal", "Disease"]}})
    with pytest.raises(
        RecipeError,
        match=r"names 'Chemcal', a label that no gold .* labels are 'Chemical', 'Disease'$",
    ):
        read_parts(recipe.corpus)
    with pytest.raises(FascicleError):
        list(run_recipe(recipe, tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_a_label_may_be_missing_in_one_part() -> None:
    check_labels(CorpusTypes(rename={"A": "B"}), {"A": 1})
    with pytest.raises(
        RecipeError, match=r"corpus\.types\.rename names 'C'.* its labels are none$"
    ):
        check_labels(CorpusTypes(rename={"C": "B"}), {})


def test_nothing_is_left(tiny_recipe: Maker) -> None:
    recipe = tiny_recipe(corpus={"types": {"drop": ["Chemical", "Disease"]}})
    with pytest.raises(
        InputError, match=r"holds no mentions of the types that corpus\.types keeps"
    ):
        read_parts(recipe.corpus)


def test_a_dictionary_names_its_own_types(
    tiny_recipe: Maker, toy_dictionary: dict[str, str]
) -> None:
    with pytest.raises(RecipeError, match=r"corpus\.types and distant exclude each other"):
        tiny_recipe(corpus={"types": {"drop": ["Disease"]}}, distant=toy_dictionary)


def test_a_file_may_describe_what_is_left_out(
    tiny_recipe: Maker, toy_types: Path, tmp_path: Path
) -> None:
    from fascicle.loading import read_manifest

    model = {"family": "binder", "type_view": "description", "types": str(toy_types)}
    recipe = tiny_recipe(
        model=model, corpus={"types": {"drop": ["Disease"]}}, training={"epochs": 1}
    )
    list(run_recipe(recipe, tmp_path / "run"))
    manifest = read_manifest(tmp_path / "run" / "best")
    assert manifest.types == manifest.descriptions["binder"].names == ("Chemical",)
    other = tiny_recipe(model=model, corpus={"types": {"rename": {"Disease": "Illness"}}})
    with pytest.raises(
        RecipeError, match="no description of 'Illness' and a description of 'Disease'"
    ):
        list(run_recipe(other, tmp_path / "other"))


def test_a_type_of_train_that_dev_lacks_is_said(tiny_recipe: Maker, tmp_path: Path) -> None:
    train, dev = tmp_path / "train.conll", tmp_path / "dev.conll"
    train.write_text("Lithium\tB-Chemical\ncauses\tO\ntremor\tB-Disease\n")
    dev.write_text("Lithium\tB-Chemical\n")
    parts = read_parts(
        tiny_recipe(corpus={"train": str(train), "dev": str(dev), "test": ""}).corpus
    )
    assert [note for note in parts.notes if "'Disease'" in note and "'Chemical'" not in note]
