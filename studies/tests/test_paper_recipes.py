"""Every recipe of the repository parses; those of the papers hold the papers' numbers, find
their corpora, and run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET

from fascicle.core.document import GOLD
from fascicle.core.printed import as_printed
from fascicle.formats import read
from fascicle.loading import read_manifest
from fascicle.settings.heads import AnyHead, BinderSettings
from fascicle.settings.recipes.any import read_recipe
from fascicle.settings.recipes.corpora import CorpusSettings
from fascicle.settings.recipes.recogniser import ReadingSettings, Recipe
from fascicle.settings.recipes.typer import SpanTyperSettings, TyperCorpus, TyperRecipe
from fascicle.settings.types import read_types
from fascicle.training.corpus import read_part
from studies.combining import genia_resplit
from studies.span_typer import measure

FOLDER = Path(__file__).resolve().parents[2] / "recipes"
EVERY = sorted(
    p for p in FOLDER.rglob("*.toml") if not {"types", "filters"} & {q.name for q in p.parents}
)
PAPERS = sorted((FOLDER / "papers").glob("*.toml"))
COMPARING = [p for p in PAPERS if p.name.startswith("comparing-")]
BUNDLING = [p for p in PAPERS if p.name.startswith("bundling-")]
BINDER = [p for p in PAPERS if p.name.startswith("binder-")]
TYPING = [p for p in PAPERS if p.name.startswith("typing-")]
TINYBERN2 = [p for p in PAPERS if p.name.startswith("tinybern2-")]
RECOGNISERS = [*COMPARING, *BUNDLING, *BINDER]

# bundling-learning, Table 2: widest span in words, batch size, encoder.
TABLE_2 = {
    "ace2004": (10, 8, "google-bert/bert-large-cased"),
    "ace2005": (10, 8, "google-bert/bert-large-cased"),
    "bc5cdr": (7, 16, "monologg/biobert_v1.0_pubmed_pmc"),
    "conll04": (10, 2, "google-bert/bert-large-cased"),
    "conll2003": (5, 32, "google-bert/bert-large-cased"),
    "conllpp": (5, 32, "google-bert/bert-large-cased"),
    "ncbi-disease": (7, 16, "monologg/biobert_v1.0_pubmed_pmc"),
    "ontonotes5": (10, 12, "google-bert/bert-large-cased"),
    "scierc": (8, 12, "allenai/scibert_scivocab_cased"),
    "wnut16": (6, 32, "google-bert/bert-large-cased"),
    "wnut17": (6, 24, "google-bert/bert-large-cased"),
}
# Gold mentions of train, dev and test as the page of these recipes has them; LivingNER is not among
# the free corpora.
MENTIONS = {
    "bc5cdr": (9385, 9593, 9809),
    "conll04": (3377, 893, 1079),
    "conllpp": (23499, 5942, 5702),
    "genia": (43769, 4337, 5474),
    "genia-resplit": (26920, 13667, 12993),
    "ncbi-disease": (5134, 787, 960),
    "scierc": (5598, 811, 1685),
    "wnut16": (1496, 661, 3473),
    "wnut17": (1975, 836, 1079),
}


def corpus_of(path: Path) -> str:
    name = path.stem.split("-", 1)[1]
    if path in BINDER:
        return name.removesuffix("-distant").removesuffix("-large")
    return name.rsplit("-", 1)[0]


def corpus_of_typing(path: Path) -> str:
    return path.stem.removeprefix("typing-")


@pytest.fixture
def data_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASCICLE_DATA", "/data")
    monkeypatch.setenv("FASCICLE_GENIA", "/data/genia-resplit")
    monkeypatch.setenv("FASCICLE_TYPING", "/data/typing")
    monkeypatch.setenv("FASCICLE_LICENSED", "/data/licensed")
    monkeypatch.setenv("FASCICLE_TINYBERN2", "/data/tinybern2")


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
@pytest.mark.usefixtures("data_set")
def test_every_recipe_parses(path: Path) -> None:
    recipe = read_recipe(path)
    assert recipe.name == path.stem
    if path not in TINYBERN2:  # which has several corpora, or raw text
        assert {"corpus.train", "corpus.test"} <= recipe.files().keys()
    assert all(path.startswith(("/data/", str(FOLDER))) for path in recipe.files().values() if path)


def test_names_are_unique_and_every_paper_recipe_is_of_a_paper() -> None:
    assert len({p.stem for p in EVERY}) == len(EVERY)
    assert sorted(RECOGNISERS + TYPING + TINYBERN2) == PAPERS
    assert {corpus_of(p) for p in BUNDLING if p.stem.endswith("-spanner")} == set(TABLE_2)


@pytest.mark.parametrize("path", BUNDLING, ids=lambda path: path.stem)
@pytest.mark.usefixtures("data_set")
def test_the_settings_of_bundling_learning(path: Path) -> None:
    """Section 4.1.2 and Table 2."""
    recipe = read_recipe(path)
    width, batch, encoder = TABLE_2[corpus_of(path)]
    model, training = recipe.model, recipe.training
    assert (model.encoder, training.batch_size) == (encoder, batch)
    assert (training.optimizer, training.learning_rate, training.epochs) == ("adamw", 5e-5, 20)
    assert (training.schedule, training.warmup, training.weight_decay) == ("linear", 0.1, 1e-2)
    head = msgspec.to_builtins(model.head)
    assert {k: head[k] for k in ("level", "pooling", "dropout")} == {
        "level": "word",
        "pooling": "max",
        "dropout": 0.1,
    }
    if path.stem.endswith("-seqner"):
        assert (head["family"], head["scheme"]) == ("softmax", "BIO")
    else:
        chosen = {k: head[k] for k in ("family", "representation", "width", "negatives")}
        assert chosen == {
            "family": "span",
            "representation": "hybrid",
            "width": width,
            "negatives": 100,
        }
    if path.stem.endswith("-bundle"):
        # section 3.2
        assert recipe.weights() == {"span": pytest.approx(0.9), "softmax": pytest.approx(0.1)}
        assert (
            recipe.heads()["softmax"]
            == read_recipe(path.with_name("bundling-conll04-seqner.toml")).model.head
        )


@pytest.mark.parametrize("path", COMPARING, ids=lambda path: path.stem)
@pytest.mark.usefixtures("data_set")
def test_the_settings_of_comparing_and_combining(path: Path) -> None:
    """Sections 3, 4.1 and 4.8."""
    recipe = read_recipe(path)
    corpus = corpus_of(path)
    spanish = corpus in ("livingner", "socialdisner")
    training = recipe.training
    assert recipe.model.encoder == (
        "FacebookAI/xlm-roberta-large" if spanish else "michiyasunaga/BioLinkBERT-large"
    )
    assert recipe.reading.context_characters == (100 if corpus == "livingner" else 0)
    assert (training.optimizer, training.learning_rate, training.batch_size) == (
        "adafactor",
        1e-5,
        4,
    )
    assert (training.patience_epochs, training.schedule, training.warmup) == (5, "constant", 0.0)
    assert training.epochs == (25 if path.stem.endswith("-seqcrf") else 20)
    head = msgspec.to_builtins(recipe.model.head)
    assert (head["level"], head["specials"], head["dropout"]) == ("piece", "include", 0.0)
    if path.stem.endswith("-spanpred"):
        chosen = {
            k: head[k] for k in ("family", "representation", "width", "negatives", "decoding")
        }
        assert chosen == {
            "family": "span",
            "representation": "boundary",
            "width": 32,
            "negatives": 0,
            "decoding": "nested",
        }


@pytest.mark.parametrize("path", BINDER, ids=lambda path: path.stem)
@pytest.mark.usefixtures("data_set")
def test_the_settings_of_binder(path: Path) -> None:
    """Section 2.2 and A.4, for base and large encoders; the descriptions are those of the
    corpus.
    """
    recipe = read_recipe(path)
    training, large, distant = (
        recipe.training,
        "-large-" in recipe.model.encoder,
        path.stem.endswith("-distant"),
    )
    assert (training.optimizer, training.learning_rate, training.schedule) == (
        "adamw",
        3e-5,
        "linear",
    )
    assert (training.warmup, training.epochs, training.batch_size) == (
        0.0,
        *((40, 16) if large else (20, 8)),
    )
    assert (recipe.reading.max_length, recipe.reading.overlap) == (256 if large else 128, 16)
    assert (training.validate_every_steps, training.patience_validations) == (
        50,
        10 if distant else 0,
    )
    assert bool(recipe.distant) == distant
    head = msgspec.to_builtins(recipe.model.head)
    losses = {"start_weight": 0.2, "end_weight": 0.2, "span_weight": 0.6, "beta": 0.5}
    sizes = {"hidden": 128, "width_embedding": 128, "width": 30, "dropout": 0.1}
    text = {
        "type_view": "description",
        "type_encoder": "own",
        "type_pool": "cls",
        "windows": "mentions",
    }
    chosen = {
        "family": "binder",
        "thresholds": "dynamic",
        "inference": "span",
        "positions": True,
        "shared": False,
    }
    wanted = {**losses, **sizes, **text, **chosen}
    assert {key: head[key] for key in wanted} == wanted
    described = {"ace2004": "ace", "ace2005": "ace", "conll2003": "conllpp", "jnlpba": "jnlpba-one"}
    corpus = corpus_of(path)
    assert Path(head["types"]) == FOLDER / "types" / f"{described.get(corpus, corpus)}.toml"
    assert head["decoding"] == ("nested" if corpus in ("genia", "ace2004", "ace2005") else "greedy")
    read_types(head["types"])


@pytest.mark.usefixtures("data_set")
def test_the_settings_of_tinybern2() -> None:
    """Section 3 and Table 2: PubMedBERT of 12 layers, a student of 4 x 312, probabilities, six
    types.
    """
    of = {path.stem.removeprefix("tinybern2-"): read_recipe(path) for path in TINYBERN2}
    assert set(of) == {"teacher", "ws", "general", "student"}
    pubmedbert = "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract"
    assert {of["teacher"].model.encoder, of["ws"].model.encoder, of["general"].teacher.encoder} == {
        pubmedbert
    }
    size = of["general"].student.size
    assert (size.layers, size.hidden, size.heads, size.feed_forward) == (4, 312, 12, 1200)
    assert of["student"].model.encoder == "runs/tinybern2-general/encoder"
    taught = {kind for part in of["teacher"].parts.values() for kind in part.annotates}
    assert taught == {"Gene", "Disease", "Chemical", "CellLine", "CellType", "Species"}
    for name in ("ws", "student"):
        (part,) = of[name].parts.values()
        assert (part.soft, set(part.annotates)) == (True, taught)
    assert all(of[name].model.head.scheme == "BIO" for name in ("teacher", "ws", "student"))


@pytest.mark.parametrize("path", TYPING, ids=lambda path: path.stem)
@pytest.mark.usefixtures("data_set")
def test_the_settings_of_span_level_strategy(path: Path) -> None:
    """Table 1."""
    recipe = read_recipe(path)
    assert isinstance(recipe, TyperRecipe)
    assert recipe.typer == SpanTyperSettings(
        updates=1500 if corpus_of_typing(path) == "nerel-ru" else 600
    )
    assert recipe.typer.learning_rate == 0.001
    assert not recipe.corpus.dev


def test_the_corpora_of_span_level_strategy_are_those_of_the_study() -> None:
    """CADEC is not among the free corpora; nerel-bio is no corpus of the paper."""
    published = {name for name, corpus in measure.CORPORA.items() if corpus.published}
    assert set(map(corpus_of_typing, TYPING)) == published | {"cadec"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [p for p in TYPING if p.stem != "typing-cadec"], ids=lambda path: path.stem
)
def test_a_corpus_of_the_typer_is_read_as_the_study_reads_it(
    path: Path, fascicle_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASCICLE_DATA", str(fascicle_data))
    monkeypatch.setenv("FASCICLE_TYPING", str(tmp_path))
    name = corpus_of_typing(path)
    study = [
        list(read(place)) for place in measure.files_of(measure.CORPORA[name], tmp_path / name)
    ]
    recipe = [read_part(read_recipe(path).corpus, part) for part in ("train", "test")]
    study[0] = [as_printed(document) for document in study[0]]  # as training texts are read
    for ours, theirs in zip(recipe, study, strict=True):
        assert [(d.text, {m.key for m in d.mentions}) for d in ours] == [
            (d.text, {m.key for m in d.mentions}) for d in theirs
        ]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MENTIONS))
def test_a_corpus_is_read_with_all_its_mentions(
    name: str, fascicle_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASCICLE_DATA", str(fascicle_data))
    monkeypatch.setenv("FASCICLE_GENIA", str(tmp_path))
    if name == "genia-resplit":
        monkeypatch.setattr(sys, "argv", ["genia_resplit.py", str(tmp_path)])
        genia_resplit.main()
    first, *others = [read_recipe(p).corpus for p in COMPARING + BUNDLING if corpus_of(p) == name]
    assert all(other == first for other in others)
    parts = [read_part(first, "train"), read_part(first, "dev"), read_part(first, "test")]
    assert tuple(sum(len(d.layer(GOLD)) for d in part) for part in parts) == MENTIONS[name]


def small(recipe: Recipe, *, encoder: Path, corpus: Path, types: Path) -> Recipe:
    """The same recipe for one epoch of ten sentences with a small encoder; all else stays."""
    # Context and packed sentences need neighbours in the same document.
    together = recipe.reading.context_characters or recipe.reading.unit == "packed"
    documents = "file" if together else "sentence"
    part = str(corpus)
    replace = msgspec.structs.replace
    reading = msgspec.convert(
        {**msgspec.to_builtins(recipe.reading), "max_length": 64, "overlap": 8}, ReadingSettings
    )
    return replace(
        recipe,
        corpus=msgspec.convert(
            {"train": part, "dev": part, "test": part, "documents": documents}, CorpusSettings
        ),
        reading=reading,
        model=replace(
            recipe.model, encoder=str(encoder), head=with_types(recipe.model.head, str(types))
        ),
        training=replace(recipe.training, epochs=1),
        distant=UNSET,
    )


def with_types(head: AnyHead, path: str) -> AnyHead:
    """The same head with other descriptions, if it reads any."""
    reads = isinstance(head, BinderSettings) and head.types
    return msgspec.structs.replace(head, types=path) if reads else head


@pytest.mark.parametrize("path", RECOGNISERS, ids=lambda path: path.stem)
@pytest.mark.usefixtures("data_set")
def test_a_paper_recipe_runs_to_its_end(
    path: Path, tiny_encoder: Path, toy_corpus: Path, toy_types: Path, tmp_path: Path
) -> None:
    from fascicle.training.engine.events import Finished
    from fascicle.training.run import run_recipe

    recipe = small(read_recipe(path), encoder=tiny_encoder, corpus=toy_corpus, types=toy_types)
    *_, last = run_recipe(recipe, tmp_path / "run")
    assert isinstance(last, Finished)
    assert last.answer.epoch == 1
    scores = json.loads((tmp_path / "run" / "scores.json").read_text(encoding="utf-8"))
    for part in ("dev", "test"):
        counts = scores[part]["micro"]
        assert counts["tp"] + counts["fn"] == 18
    lines = (tmp_path / "run" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1
    assert json.loads(lines[0])["loss"] > 0
    assert (tmp_path / "run" / "predictions" / "test.tsv").is_file()
    assert (tmp_path / "run" / "best" / "model.safetensors").is_file()
    manifest = read_manifest(tmp_path / "run" / "best")
    assert manifest.reading == recipe.reading
    assert list(manifest.heads.values()) == [
        with_types(head, toy_types.name) for head in recipe.heads().values()
    ]


@pytest.mark.parametrize("path", TYPING, ids=lambda path: path.stem)
@pytest.mark.usefixtures("data_set")
def test_a_recipe_of_the_typer_runs_to_its_end(
    path: Path, toy_corpus: Path, tmp_path: Path
) -> None:
    from fascicle.training.run import run_recipe
    from fascicle.training.typer.run import TyperFinished

    vectors = tmp_path / "toy.vec"
    numbers = " ".join(["0.5"] * 299)
    vectors.write_text(
        "".join(f"{word} {at} {numbers}\n" for at, word in enumerate(("pain", "aspirin", "<unk>")))
    )
    recipe = read_recipe(path)
    assert isinstance(recipe, TyperRecipe)
    part, replace = str(toy_corpus), msgspec.structs.replace
    toy = replace(
        recipe,
        corpus=msgspec.convert({"train": part, "test": part, "documents": "sentence"}, TyperCorpus),
        vectors=replace(recipe.vectors, path=str(vectors)),
        typer=replace(recipe.typer, updates=1),
    )
    *_, last = run_recipe(toy, tmp_path / "run")
    assert isinstance(last, TyperFinished)
    assert last.parts["test"].typing.mentions == 18
