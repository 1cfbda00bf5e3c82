"""Finders of relations: trained on a toy corpus, exported, and used in every way in."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from msgspec.structs import replace
from tests.support.runs import finish

import fascicle
from fascicle.core.document import Document, Link, Mention, Relation
from fascicle.core.patches import apply
from fascicle.errors import InputError, ModelError, RecipeError, UsageError
from fascicle.loading import load_relations
from fascicle.pipeline.loading import open_pipeline
from fascicle.runtime.places import find_model
from fascicle.settings.recipes.any import parse_any
from fascicle.settings.recipes.corpora import CorpusTypes
from fascicle.settings.recipes.relations import RelationRecipe
from fascicle.training.corpus import choose_types
from fascicle.training.relations.run import RelationsFinished, prepare_relations
from fascicle.training.starting import open_trained

CHEMICALS = ("aspirin", "ibuprofen", "caffeine")
DISEASES = ("pain", "fever", "hepatitis")
Maker = Callable[..., RelationRecipe]


def document(number: int, *, concepts: bool) -> Document:
    """Two sentences of a drug that caused a disease or was given for it, with what stands there."""
    text, mentions, relations = "", [], list[Relation]()
    for at in range(2):
        drug, disease = CHEMICALS[(number + at) % 3], DISEASES[(number // 3 + at) % 3]
        caused = (number // 2 + at) % 2 == 0
        words = f"{drug} caused {disease} . " if caused else f"{disease} took {drug} . "
        keys = {}
        for kind, word in (("Chemical", drug), ("Disease", disease)):
            start = len(text) + words.index(word)
            link = (Link(id=word.upper()),)
            mentions.append(Mention(((start, start + len(word)),), kind, links=link))
            keys[kind] = mentions[-1].key
        if concepts:
            attributes = (("entity1", drug.upper()), ("entity2", disease.upper()))
            relation = Relation(type="CID", attributes=attributes)
        else:
            ends = [("agent", keys["Chemical"]), ("harm", keys["Disease"])]
            relation = Relation(type="causes", arguments=tuple(ends))
        relations += [relation] * (caused and relation not in relations)
        text += words
    return Document(
        id=str(number), text=text.strip(), mentions=tuple(mentions), relations=tuple(relations)
    )


@pytest.fixture(scope="module", params=["mentions", "concepts"])
def between(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def corpus(between: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("related") / "train.jsonl"
    documents = [document(number, concepts=between == "concepts") for number in range(18)]
    fascicle.write(path, documents)
    return path


@pytest.fixture(scope="module")
def make(between: str, corpus: Path, tiny_encoder: Path) -> Maker:
    defaults: dict[str, Any] = {
        "corpus": {"train": str(corpus), "dev": str(corpus), "test": str(corpus)},
        "relations": {"between": between, "sentences": 0},
        "model": {"encoder": str(tiny_encoder), "width": 32, "dropout": 0.0},
        "reading": {"max_length": 48, "overlap": 8},
        "training": {"epochs": 14, "learning_rate": 5e-3, "batch_size": 3, "precision": "fp32"},
    }

    def made(**changes: Any) -> RelationRecipe:
        tables = {name: {**table, **changes.pop(name, {})} for name, table in defaults.items()}
        return parse_any({**tables, **changes}, origin="relations.toml")

    return made


@pytest.fixture(scope="module")
def trained(make: Maker, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("relations") / "run"
    ended = finish(make(), folder)[-1]
    assert isinstance(ended, RelationsFinished)
    assert ended.scores["dev"][0].counts.rates().f1 == pytest.approx(1.0)
    return folder


def bare(documents: list[Document]) -> list[tuple[str, Any, Any]]:
    """Relations without their probability."""
    return [
        (d.id, r.arguments, tuple(fact for fact in r.attributes if fact[0] != "score"))
        for d in documents
        for r in sorted(d.relations, key=lambda r: (r.arguments, r.attributes))
    ]


def find(folder: Path, documents: list[Document]) -> list[Document]:
    patches = load_relations(folder).relate(documents, [d.mentions for d in documents])
    return [apply(d, patch) for d, patch in zip(documents, patches, strict=True)]


def test_it_finds_what_it_learnt_and_keeps_the_ends(trained: Path, corpus: Path) -> None:
    gold = list(fascicle.read(corpus))
    found = find(trained, [d.having(relations=()) for d in gold])
    assert bare(found) == bare(gold)
    scores = [float(dict(r.attributes)["score"]) for d in found for r in d.relations]
    assert all(0.0 < score <= 1.0 for score in scores)
    again = find(trained, found)
    assert again == found  # the earlier ones are replaced
    other = Relation(type="other", attributes=(("x", "y"),))
    (kept,) = find(trained, [found[0].having(relations=(*found[0].relations, other))])
    assert set(kept.relations) == {other, *found[0].relations}
    facts = json.loads((trained / "run.json").read_text(encoding="utf-8"))
    assert facts["counts"]["relations"] == sum(len(d.relations) for d in gold)
    scores_file = json.loads((trained / "scores.json").read_text(encoding="utf-8"))
    assert scores_file["test"]["micro"]["f1"] == pytest.approx(1.0)
    assert scores_file["test"]["ends"]["f1"] == pytest.approx(1.0)


def test_relations_of_the_gold_stay(trained: Path, corpus: Path) -> None:
    # docs/scores.md: beside gold mentions, only relations with a score are of a system
    gold = list(fascicle.read(corpus))
    alone = find(trained, [d.having(relations=()) for d in gold])
    found = find(trained, gold)
    for own, new, both in zip(gold, alone, found, strict=True):
        assert set(both.relations) == {*own.relations, *new.relations}
    assert find(trained, found) == found


def test_it_starts_from_the_encoder_of_a_model(make: Maker, tmp_path: Path) -> None:
    start = str(find_model("biomed-fast"))
    recipe = make(model={"encoder": "", "start": start})
    loop = prepare_relations(recipe, tmp_path, {}).loop
    expected = open_trained(start, key="", use="").model.encoder.state_dict()
    taken = loop.model.encoder.state_dict()
    assert taken.keys() == expected.keys()
    assert all(torch.equal(taken[name], expected[name]) for name in expected)
    assert recipe.files()["model.start"] == start
    with pytest.raises(RecipeError, match="encoder and start exclude each other"):
        make(model={"start": start})


def test_relations_follow_mentions_of_new_types(corpus: Path) -> None:
    gold = list(fascicle.read(corpus))
    selection = CorpusTypes(rename={"Chemical": "Drug"})
    for before, after in zip(gold, choose_types(gold, selection).documents, strict=True):
        ends = [
            (role, (source, {"Chemical": "Drug"}.get(kind, kind), spans))
            for relation in before.relations
            for role, (source, kind, spans) in relation.arguments
        ]
        assert [end for relation in after.relations for end in relation.arguments] == ends
        assert {key for _, key in ends} <= {mention.key for mention in after.mentions}


def test_a_relation_names_its_evidence(trained: Path, corpus: Path) -> None:
    finder = load_relations(trained)
    for gold in fascicle.read(corpus):
        (found,) = find(trained, [gold.having(relations=())])
        lines = finder.explain(gold, gold.mentions)
        assert len(lines) == len(found.relations)
        assert all(": 1 pair of mentions; " in line and "(100 %)" in line for line in lines)
        (stated,) = finder.read([gold], [gold.mentions])
        for at, chances in enumerate(stated.chances):
            own = stated.evidence[stated.pairs.rows[:, 2] == at]
            total = np.exp(own).sum(axis=0)
            assert chances == pytest.approx(total / total.sum())


def test_a_document_does_not_depend_on_those_beside_it(trained: Path, corpus: Path) -> None:
    documents = list(fascicle.read(corpus))
    assert [find(trained, [d])[0] for d in documents] == find(trained, documents)


def test_hidden_characters_move_no_end(trained: Path, corpus: Path, tmp_path: Path) -> None:
    gold = next(d for d in fascicle.read(corpus) if d.relations)
    moved = {m.key: replace(m, spans=((m.start + 1, m.end + 1),)) for m in gold.mentions}
    hidden = gold.having(relations=())
    hidden = replace(hidden, text="\u200b" + gold.text, mentions=tuple(moved.values()))
    (found,) = pipeline_of(trained, tmp_path).stream([hidden])
    expected = [tuple((role, moved[key].key) for role, key in r.arguments) for r in gold.relations]
    assert sorted(r.arguments for r in found.relations) == sorted(expected)


def pipeline_of(folder: Path, place: Path) -> Any:
    path = place / "pipeline.toml"
    path.write_text(
        'name = "related"\ngiven = ["mentions", "links"]\n\n[[steps]]\nkind = "relate"\n'
        f'relations = "{folder}"\nsources = ["gold"]\n',
        encoding="utf-8",
    )
    return open_pipeline(path)


def test_the_device_reaches_the_finder_in_every_pipeline(
    trained: Path, between: str, tiny_run: Path, tmp_path: Path
) -> None:
    """The device ``meta`` of torch holds shapes alone."""
    if between == "concepts":
        pytest.skip("relations between concepts need a step that links")
    (tmp_path / "names.tsv").write_text("Chemical\taspirin\n", encoding="utf-8")
    recogniser = '[[steps]]\nkind = "recogniser"\n'
    own = f'{recogniser}model = "{tiny_run}"\nrelations = "{trained}"\ndevice = "meta"\n'
    among_others = (
        f'{recogniser}name = "names"\nmodel = "./names.tsv"\n[[steps]]\nkind = "relate"\n'
        f'relations = "{trained}"\nsources = ["names"]\ndevice = "meta"\n'
    )
    for steps in (own, among_others):
        (tmp_path / "pipeline.toml").write_text(f'name = "p"\n{steps}', encoding="utf-8")
        finder = open_pipeline(tmp_path / "pipeline.toml").steps[-1].finder
        assert {weights.device.type for weights in finder.scorer.model.parameters()} == {"meta"}


@pytest.mark.parametrize("int8", [False, True])
def test_an_export_finds_the_same(trained: Path, corpus: Path, tmp_path: Path, int8: bool) -> None:
    manifest = fascicle.export(trained, tmp_path / "out", int8=int8, name="mine")
    assert (manifest.runtime, manifest.name) == ("onnx", "mine")
    gold = [d.having(relations=()) for d in fascicle.read(corpus)]
    expected, found = (
        [
            (stated.best.tolist(), finder.calibrated(stated.scores))
            for stated in finder.read(gold, [document.mentions for document in gold])
        ]
        for finder in map(load_relations, (trained, tmp_path / "out"))
    )
    for (labels, scores), (other_labels, other_scores) in zip(expected, found, strict=True):
        assert labels == other_labels
        assert scores == pytest.approx(other_scores, abs=0.01 if int8 else 1e-4)
    if not int8:
        assert bare(find(tmp_path / "out", gold)) == bare(find(trained, gold))


def test_texts_without_pairs_are_no_sample_of_an_8_bit_export(
    trained: Path, between: str, corpus: Path, tmp_path: Path
) -> None:
    gold = list(fascicle.read(corpus))
    alone = [d.having(mentions=d.mentions[:1], relations=()) for d in gold]
    bare = [
        d.having(mentions=tuple(replace(m, links=()) for m in d.mentions), relations=())
        for d in gold
    ]
    fascicle.write(tmp_path / "alone.jsonl", alone)
    with pytest.raises(UsageError, match="pairs of mentions"):
        fascicle.export(trained, tmp_path / "a", int8=True, sample=tmp_path / "alone.jsonl")
    fascicle.write(tmp_path / "bare.jsonl", bare)
    if between == "concepts":
        with pytest.raises(UsageError, match="mentions with links"):
            fascicle.export(trained, tmp_path / "b", int8=True, sample=tmp_path / "bare.jsonl")
    mixed = [
        replace(d, id=f"{name}{d.id}")
        for name, part in zip("xy", (alone, gold), strict=True)
        for d in part
    ]
    fascicle.write(tmp_path / "mixed.jsonl", mixed)
    fascicle.export(trained, tmp_path / "c", int8=True, sample=tmp_path / "mixed.jsonl")


def names(tmp_path: Path) -> Path:
    path = tmp_path / "names.tsv"
    rows = [f"Chemical\t{name}" for name in CHEMICALS] + [f"Disease\t{n}" for n in DISEASES]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_every_way_in(trained: Path, between: str, tmp_path: Path) -> None:
    own, text = names(tmp_path), "aspirin caused pain ."
    if between == "concepts":
        with pytest.raises(UsageError, match="gives no links"):
            fascicle.load(own, relations=trained, links=False)
        (tmp_path / "in.txt").write_text(text, encoding="utf-8")
        out = tmp_path / "out.conll"  # which holds no links, and no relations
        fascicle.annotate(tmp_path / "in.txt", out, model=own, relations=trained, format="conll")
        assert "B-Chemical" in out.read_text(encoding="utf-8")
        return
    model = fascicle.load(own, relations=trained, links=False)
    (relation,) = model(text).relations
    assert [role for role, _ in relation.arguments] == ["agent", "harm"]
    assert [key[2] for _, key in relation.arguments] == [((0, 7),), ((15, 19),)]
    (line,) = model.trace(text).relations
    assert line.startswith("relations relations: added causes 'aspirin' and 'pain' ")
    assert line.endswith(
        ": 1 pair of mentions; 'aspirin' and 'pain', 0 sentences apart, count most (100 %)"
    )
    assert line in str(model.trace(text))
    (tmp_path / "in.txt").write_text(text, encoding="utf-8")
    fascicle.annotate(
        tmp_path / "in.txt", tmp_path / "out.jsonl", model=own, relations=trained, link=None
    )
    (written,) = fascicle.read(tmp_path / "out.jsonl")
    assert written.relations == model(text).relations


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"relations": {"types": [["Gene", "Gene"]]}}, InputError, "no relation of train"),
        ({"reading": {"max_length": 512}}, RecipeError, "lower it"),
        ({"training": {"hidden_pieces": 0.1}}, RecipeError, "hidden_pieces"),
        ({"relations": {"most": 0}}, RecipeError, "most"),
    ],
)
def test_what_is_refused(
    make: Maker, tmp_path: Path, changes: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        finish(make(**changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def also_of(relation: Relation, kind: str) -> Relation:
    return replace(relation, type=kind, attributes=(*relation.attributes, ("note", kind)))


@pytest.mark.parametrize(("kind", "beside"), [("", 0), ("other", 18)])
def test_ends_with_two_relations_are_counted(
    make: Maker, corpus: Path, tmp_path: Path, kind: str, beside: int
) -> None:
    """A statement has one label, so a second type of the same ends is beside it; the same type
    again is no other answer.
    """
    documents = [d.having(relations=several(d, kind)) for d in fascicle.read(corpus)]
    assert sum(len(document.relations) for document in documents) == 2 * 18
    fascicle.write(tmp_path / "own.jsonl", documents)
    places = dict.fromkeys(("train", "dev"), str(tmp_path / "own.jsonl"))
    other = [replace(d, id=f"x{d.id}", relations=d.relations[1::2]) for d in documents]
    fascicle.write(tmp_path / "train.jsonl", [*documents, *other])
    places["train"] = str(tmp_path / "train.jsonl")
    finish(make(corpus=places, training={"epochs": 1}), tmp_path / "run")
    missed = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["missed"]
    assert {part: sum(count.values()) for part, count in missed.items()} == {
        "train": beside,
        "dev": beside,
    }


def several(document: Document, kind: str) -> tuple[Relation, ...]:
    """Each relation, and behind it the same of this type."""
    return tuple(
        each for one in document.relations for each in (one, also_of(one, kind or one.type))
    )


def test_what_a_finder_found_is_not_learnt(
    make: Maker, between: str, corpus: Path, tmp_path: Path
) -> None:
    """A relation between concepts with a score is of a system; relations between mentions have
    the source of these.
    """
    documents = list(fascicle.read(corpus))
    own = [
        tuple(replace(one, attributes=(*one.attributes, ("score", "0.9"))) for one in d.relations)
        for d in documents
    ]
    joined = [
        d.having(relations=(*d.relations, *more)) for d, more in zip(documents, own, strict=True)
    ]
    fascicle.write(tmp_path / "own.jsonl", joined)
    recipe = make(corpus={"train": str(tmp_path / "own.jsonl")})
    facts = prepare_relations(recipe, tmp_path, {}).facts
    missed = facts.more["missed"]["train"]
    left_out = 18 * (between == "concepts")
    assert sum(missed.values()) == missed["of a system, not of the gold"] == left_out
    notes = [note for note in facts.notes if "of a system, not of the gold: 18" in note]
    assert len(notes) == bool(left_out)


@pytest.mark.parametrize("change", ["type", "ends", "none"])
def test_a_dev_part_without_a_possible_answer_is_refused(
    make: Maker, corpus: Path, tmp_path: Path, change: str
) -> None:
    documents = list(fascicle.read(corpus))
    changed = {
        "type": [
            replace(d, relations=tuple(also_of(one, "never") for one in d.relations))
            for d in documents
        ],
        "ends": [
            replace(d, relations=(Relation(type="CID", attributes=(("entity1", "X"),)),))
            for d in documents
        ],
        "none": [replace(d, relations=()) for d in documents],
    }[change]
    fascicle.write(tmp_path / "dev.jsonl", changed)
    reason = {"type": "of a type that train lacks: 18", "ends": "without two ends .*: 18"}
    with pytest.raises(InputError, match=reason.get(change, "there are none")):
        finish(make(corpus={"dev": str(tmp_path / "dev.jsonl")}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_folder_of_something_else_is_refused(tiny_run: Path, trained: Path) -> None:
    with pytest.raises(ModelError, match="finds no relations"):
        load_relations(tiny_run)
    with pytest.raises(ModelError, match="it finds relations between mentions"):
        fascicle.load(trained, links=False)


def several_sentences(number: int) -> Document:
    """Four sentences of drugs and diseases in any order; what one sentence says once is gold."""
    draw, text = random.Random(number), ""
    mentions, related = list[Mention](), dict[Relation, None]()
    for _ in range(4):
        drug, disease = draw.choice(CHEMICALS), draw.choice(DISEASES)
        caused = draw.random() < 0.4
        sentence = f"{drug} caused {disease} . " if caused else f"{drug} for {disease} . "
        for kind, word in (("Chemical", drug), ("Disease", disease)):
            start = len(text) + sentence.index(word)
            link = (Link(id=word.upper()),)
            mentions.append(Mention(((start, start + len(word)),), kind, links=link))
        if caused:
            ends = ("Chemical", drug.upper()), ("Disease", disease.upper())
            related[Relation(type="CID", attributes=ends)] = None
        text += sentence
    return Document(
        id=str(number), text=text.strip(), mentions=tuple(mentions), relations=tuple(related)
    )


def test_it_learns_from_pairs_of_all_sentences_by_heart(tiny_encoder: Path, tmp_path: Path) -> None:
    documents = [several_sentences(number) for number in range(12)]
    fascicle.write(tmp_path / "train.jsonl", documents)
    recipe = parse_any(
        {
            "corpus": dict.fromkeys(("train", "dev"), str(tmp_path / "train.jsonl")),
            "relations": {"between": "concepts"},
            "model": {"encoder": str(tiny_encoder), "width": 64, "dropout": 0.0},
            "reading": {"max_length": 64, "overlap": 8},
            "training": {
                "epochs": 8,
                "learning_rate": 5e-3,
                "batch_size": 3,
                "schedule": "constant",
                "precision": "fp32",
            },
        },
        origin="relations.toml",
    )
    ended = finish(recipe, tmp_path / "run")[-1]
    assert isinstance(ended, RelationsFinished)
    assert ended.scores["dev"][0].counts.rates().f1 > 0.97
