"""The span typer from corpus to scores: what is taught, what is drawn, runs, folders, and
everything refused.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

from fascicle.core.document import Document, Mention
from fascicle.errors import InputError, ModelError, OutputError, RecipeError, UsageError
from fascicle.formats import read, write
from fascicle.models.nn.span_reader import count_loss
from fascicle.models.span_typer import SpanTyper, TyperModel, WordVocabulary, load_typer, save_typer
from fascicle.settings.recipes.any import parse_any
from fascicle.settings.recipes.corpora import CorpusTypes
from fascicle.settings.recipes.typer import SpanTyperSettings, TyperManifest, TyperRecipe
from fascicle.training.run import run_recipe
from fascicle.training.typer.data import TrainingSpans, typer_data
from fascicle.training.typer.run import TyperFinished, TyperLoop, UpdateDone
from fascicle.training.typer.scores import GivenMention, given_mentions, to_distributions
from fascicle.verbs.train import typing_text

_TEXT = (
    "lung cancer aspirin pain the patient fever caffeine heart failure liver hepatitis ibuprofen"
)
WORDS = tuple(_TEXT.split())


def vectors_file(folder: Path) -> Path:
    chance = np.random.default_rng(1)
    path = folder / "toy.vec"
    rows = (
        f"{word} {' '.join(f'{v:.3f}' for v in chance.normal(size=6))}\n"
        for word in (*WORDS, "<unk>")
    )
    path.write_text("".join(rows), encoding="utf-8")
    return path


def recipe_of(folder: Path, corpus: Path, **typer: object) -> TyperRecipe:
    settings = {"hidden": 8, "updates": 60, "learning_rate": 0.02, **typer}
    values = {
        "name": "toy-typer",
        "corpus": {"train": str(corpus), "test": str(corpus), "documents": "sentence"},
        "vectors": {"path": str(vectors_file(folder))},
        "typer": settings,
    }
    return parse_any(values, origin="toy.toml")


def finished(recipe: TyperRecipe, folder: Path) -> tuple[list[float], TyperFinished]:
    events = list(run_recipe(recipe, folder))
    assert isinstance(events[-1], TyperFinished)
    return [event.loss for event in events if isinstance(event, UpdateDone)], events[-1]


def model_of(*, nothing: bool = False, seed: int = 1) -> TyperModel:
    torch.manual_seed(seed)
    settings = SpanTyperSettings(hidden=4, nothing=nothing, **({"width": 3} if nothing else {}))
    network = SpanTyper(torch.randn(len(WORDS) + 1, 6), hidden=4, classes=2 + nothing)
    manifest = TyperManifest(
        name="toy", fascicle="0", types=("Chemical", "Disease"), settings=settings, dimension=6
    )
    return TyperModel(network, WordVocabulary(WORDS, lowercase=False), manifest)


def test_a_run_learns_its_corpus_and_is_repeatable(tmp_path: Path, toy_corpus: Path) -> None:
    recipe = recipe_of(tmp_path, toy_corpus)
    losses, end = finished(recipe, tmp_path / "run")
    again, _ = finished(recipe, tmp_path / "again")
    assert losses == again
    assert losses[-1] < losses[0] / 5
    scores = end.parts["test"]
    assert scores.typing.mentions == 18
    assert scores.typing.accuracy >= scores.majority.accuracy
    assert scores.lookup.accuracy == 1.0
    assert scores.recognition is None
    assert scores.published is not None
    assert scores.published.f1 == pytest.approx(
        2 * scores.typing.accuracy / (1 + scores.typing.accuracy)
    )
    written = json.loads((tmp_path / "run" / "scores.json").read_text())
    assert written["test"]["typing"]["accuracy"] == scores.typing.accuracy
    loaded = load_typer(tmp_path / "run" / "model")
    documents = list(read(toy_corpus))
    said = [m.predicted[0] == m.gold for m in given_mentions(loaded, documents)]
    assert sum(said) / len(said) == scores.typing.accuracy
    with pytest.raises(OutputError, match="exists already"):
        list(run_recipe(recipe, tmp_path / "run"))


def test_a_part_without_mentions_is_not_scored(tmp_path: Path, toy_corpus: Path) -> None:
    bare = tmp_path / "bare.tsv"
    bare.write_text("the\tO\nrat\tO\n", encoding="utf-8")
    recipe = recipe_of(tmp_path, toy_corpus, updates=3)
    corpus = msgspec.structs.replace(recipe.corpus, dev=str(bare), test=str(bare))
    _, end = finished(msgspec.structs.replace(recipe, corpus=corpus), tmp_path / "run")
    assert end.parts == {}
    assert (tmp_path / "run" / "model").is_dir()


def native(path: Path, text: str, *mentions: Mention) -> str:
    write(path, [Document(id="d", text=text, mentions=mentions)], format="native", overwrite=True)
    return str(path)


def test_a_mention_without_a_word_is_refused_before_training(
    tmp_path: Path, toy_corpus: Path
) -> None:
    recipe = recipe_of(tmp_path, toy_corpus, updates=3)
    bad = native(tmp_path / "bad.jsonl", "lung cancer", Mention(((4, 5),), "Disease"))
    for part in ("dev", "test"):
        corpus = msgspec.structs.replace(recipe.corpus, **{part: bad}, documents="auto")
        with pytest.raises(InputError, match=r"the span \(4, 5\) of document 'd' holds no word"):
            list(run_recipe(msgspec.structs.replace(recipe, corpus=corpus), tmp_path / "run"))
        assert not (tmp_path / "run").exists()


def test_with_discontinuous_mentions_alone_there_is_no_published_figure(
    tmp_path: Path, toy_corpus: Path
) -> None:
    torn = native(
        tmp_path / "torn.jsonl", "lung and liver cancer", Mention(((0, 4), (15, 21)), "Disease")
    )
    recipe = recipe_of(tmp_path, toy_corpus, updates=3)
    corpus = msgspec.structs.replace(recipe.corpus, test=torn, documents="auto")
    _, end = finished(msgspec.structs.replace(recipe, corpus=corpus), tmp_path / "run")
    scores = end.parts["test"]
    assert (scores.typing.mentions, scores.published) == (1, None)
    assert scores.as_dict()["published_protocol"] is None
    assert "published protocol" not in typing_text(scores)


def test_words_without_a_vector_are_those_of_the_scored_mentions(
    tmp_path: Path, toy_corpus: Path
) -> None:
    text = "quux cancer of the blarg"
    given_ = (Mention(((0, 11),), "Disease"), Mention(((19, 24),), "Disease"))
    new = native(tmp_path / "new.jsonl", text, *given_)
    recipe = recipe_of(tmp_path, toy_corpus, updates=3)
    corpus = msgspec.structs.replace(recipe.corpus, test=new, documents="auto")
    _, end = finished(msgspec.structs.replace(recipe, corpus=corpus), tmp_path / "run")
    scores = end.parts["test"]
    assert (scores.words, scores.words_without_vector) == (3, 2)
    assert "words without a vector   66.67 %  of 3 words in these mentions" in typing_text(scores)


def test_a_place_for_the_mapped_copy_that_cannot_be_is_named_with_its_key(
    tmp_path: Path, toy_corpus: Path
) -> None:
    recipe = recipe_of(tmp_path, toy_corpus)
    vectors = msgspec.structs.replace(recipe.vectors, cache=str(tmp_path / "no" / "where"))
    with pytest.raises(
        OutputError,
        match=r'give another place with vectors\.cache \("none" keeps no mapped copy\)$',
    ):
        list(run_recipe(msgspec.structs.replace(recipe, vectors=vectors), tmp_path / "run"))


def test_mentions_that_can_never_be_found_are_counted(tmp_path: Path) -> None:
    documents = [
        Document(
            id="d",
            text=TEXT,
            sentences=SENTENCES,
            mentions=(*GOLD, Mention(((12, 25),), "Disease")),
        )
    ]
    vocabulary = WordVocabulary(WORDS, lowercase=False)
    # one discontinuous, one across sentences, and "lung cancer"
    for width, expected in ((3, 2), (1, 3)):
        data = typer_data(documents, vocabulary, SpanTyperSettings(nothing=True, width=width))
        assert data.facts["never_found"] == expected
    assert "never_found" not in typer_data(documents, vocabulary, SpanTyperSettings()).facts


def test_excluded_documents_and_unknown_types_are_heeded(tmp_path: Path, toy_corpus: Path) -> None:
    recipe = recipe_of(tmp_path, toy_corpus, updates=3)
    other = msgspec.structs.replace(recipe.corpus, types=CorpusTypes(drop=("Chemicall",)))
    with pytest.raises(RecipeError, match="Chemicall"):
        list(run_recipe(msgspec.structs.replace(recipe, corpus=other), tmp_path / "a"))
    excluded = msgspec.structs.replace(recipe.corpus, exclude=str(tmp_path / "no.tsv"))
    with pytest.raises(InputError, match=r"corpus\.exclude of the recipe .* does not exist"):
        list(run_recipe(msgspec.structs.replace(recipe, corpus=excluded), tmp_path / "b"))


def test_with_a_class_for_nothing_mentions_are_found(tmp_path: Path, toy_corpus: Path) -> None:
    recipe = recipe_of(
        tmp_path, toy_corpus, nothing=True, negatives=0, width=4, updates=150, hidden=16
    )
    _, end = finished(recipe, tmp_path / "run")
    found = end.parts["test"].recognition
    assert found is not None
    assert found.micro.f1 > 0.9
    assert (tmp_path / "run" / "model" / "typer.json").is_file()


def test_vectors_are_frozen() -> None:
    model = model_of()
    assert "vectors" not in dict(model.network.named_parameters())
    assert not model.network.vectors.requires_grad


def test_words_around_a_span_change_nothing() -> None:
    model = model_of()
    one = Document(id="1", text="the lung cancer patient")
    other = Document(id="2", text="a fine lung cancer of the liver")
    tables = model.type_fragments([one, other], [[((4, 15),)], [((7, 18),)]])
    assert np.array_equal(*tables)
    assert tables[0].sum() == pytest.approx(1.0)


def test_one_batch_or_many_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of()
    chance = np.random.default_rng(5)
    surfaces = [tuple(chance.choice([*WORDS, "unseen"], chance.integers(1, 5))) for _ in range(40)]
    whole = model.probabilities(surfaces)
    monkeypatch.setattr("fascicle.models.span_typer._AT_ONCE", 3)
    assert np.allclose(whole, model.probabilities(surfaces), atol=1e-6)
    assert np.allclose(
        whole, np.concatenate([model.probabilities([s]) for s in surfaces]), atol=1e-6
    )


TEXT = "lung cancer pain . the pain lung cancer in liver . heart pain"
SENTENCES = ((0, 18), (19, 50), (51, 61))
GOLD = (
    Mention(((0, 11),), "Disease"),
    Mention(((12, 16),), "Disease"),
    Mention(((51, 56), (57, 61)), "Chemical"),
)


def brute_nothing(
    document: Document, vocabulary: WordVocabulary, width: int
) -> tuple[Counter, Counter]:
    """Places of spans that are no mention, of strings that are one somewhere, and of the others."""
    words = [(m.start, m.end) for m in _words(document.text)]
    gold = {f for m in document.mentions for f in m.spans}
    strings = {tuple(vocabulary.row(w) for w in document.text[a:b].split()) for a, b in gold}
    known: Counter = Counter()
    others: Counter = Counter()
    for first, last in document.sentences or ():
        inside = [w for w in words if first <= w[0] and w[1] <= last]
        for i in range(len(inside)):
            for j in range(i + 1, min(i + width, len(inside)) + 1):
                span = (inside[i][0], inside[j - 1][1])
                if span in gold:
                    continue
                rows = tuple(vocabulary.row(w) for w in document.text[slice(*span)].split())
                (known if rows in strings else others)[rows] += 1
    return known, others


class _Word(msgspec.Struct, frozen=True):
    start: int
    end: int


def _words(text: str) -> list[_Word]:
    found, at = [], 0
    for word in text.split(" "):
        found.append(_Word(at, at + len(word)))
        at += len(word) + 1
    return found


def as_counter(taught: TrainingSpans, kind: int) -> Counter:
    """Strings, as rows of the vectors, taught as one class."""
    found: Counter = Counter()
    batch = taught.batch
    for width, rows in batch.by_width:
        for row in rows.tolist():
            path = batch.forward.node[row, :width].tolist()
            flat = batch.forward.words
            string = tuple(int(taught.rows[flat[node]]) for node in path)
            if taught.counts[row, kind]:
                found[string] += float(taught.counts[row, kind])
    return found


def test_what_is_taught_is_what_a_loop_finds() -> None:
    document = Document(id="d", text=TEXT, sentences=SENTENCES, mentions=GOLD)
    vocabulary = WordVocabulary(WORDS, lowercase=False)
    settings = SpanTyperSettings(nothing=True, width=3, negatives=0)
    data = typer_data([document], vocabulary, settings)
    known, others = brute_nothing(document, vocabulary, 3)
    assert data.types == ("Chemical", "Disease")
    rows = {word: row for row, word in enumerate(WORDS)}
    assert as_counter(data.taught, 0) == {(rows["heart"],): 1, (rows["pain"],): 1}
    assert as_counter(data.taught, 1) == {(rows["lung"], rows["cancer"]): 1, (rows["pain"],): 1}
    assert as_counter(data.taught, 2) == known
    assert data.pool is not None
    drawn = data.pool.drawn(0, np.random.default_rng(1))
    assert drawn is not None
    assert as_counter(drawn, 2) == others
    assert data.facts["discontinuous"] == 1
    assert data.facts["fragments"] == 4


def test_drawn_places_stand_for_all_of_them() -> None:
    document = Document(id="d", text=TEXT, sentences=SENTENCES, mentions=GOLD)
    data = typer_data(
        [document], WordVocabulary(WORDS, lowercase=False), SpanTyperSettings(nothing=True, width=3)
    )
    assert data.pool is not None
    chance = np.random.default_rng(2)
    every = data.pool.drawn(0, chance)
    assert every is not None
    sums: Counter = Counter()
    for _ in range(300):
        drawn = data.pool.drawn(10, chance)
        assert drawn is not None
        assert float(drawn.counts.sum()) == pytest.approx(len(data.pool.starts), rel=1e-5)
        sums.update(as_counter(drawn, 2))
    for string, count in as_counter(every, 2).items():
        assert sums[string] / 300 == pytest.approx(count, rel=0.25)


@pytest.mark.parametrize("balance", [False, True])
def test_balanced_or_not_the_probabilities_are_the_frequencies(balance: bool) -> None:
    text = "pain lung pain liver pain heart pain fever"
    mentions = (Mention(((0, 4),), "Symptom"), Mention(((37, 42),), "Symptom"))
    document = Document(id="d", text=text, mentions=mentions)
    settings = SpanTyperSettings(
        nothing=True,
        width=1,
        negatives=0,
        balance=balance,
        updates=300,
        hidden=16,
        learning_rate=0.02,
    )
    vocabulary = WordVocabulary(WORDS, lowercase=False)
    data = typer_data([document], vocabulary, settings)
    assert data.balance == pytest.approx(2 / 6)
    torch.manual_seed(1)
    network = SpanTyper(torch.randn(len(WORDS) + 1, 8), hidden=16, classes=2)
    loop = TyperLoop(network, data, settings, seed=1)
    list(loop.run())
    loop.trained()
    rows, batch = vocabulary.batch([("pain",), ("fever",), ("lung",)])
    with torch.no_grad():
        chances = torch.softmax(network(rows, batch), dim=1)[:, 0].tolist()
    assert chances == pytest.approx([1 / 4, 1.0, 0.0], abs=0.03)


def test_logits_of_words_without_a_vector_are_those_of_the_unknown_row() -> None:
    model = model_of()
    assert np.array_equal(*model.probabilities([("quux", "pain"), ("quuux", "pain")]))


def test_retyping_keeps_spans_and_says_what_it_merged() -> None:
    model = model_of()
    document = Document(id="d", text="lung cancer pain fever")
    given = {
        "d": [
            Mention(((0, 11),), "X"),
            Mention(((0, 11),), "Y"),
            Mention(((12, 16), (17, 22)), "X"),
        ]
    }
    (patch,) = model.retype([document], given)
    assert [m.spans for m in patch.add] == [((0, 11),), ((12, 16), (17, 22))]
    assert {m.source for m in patch.add} == {"toy"}
    assert "same-span" in {event.code for event in patch.events}
    alone = model.type_probabilities([("pain",), ("fever",)])
    best = int(np.log(alone).sum(axis=0).argmax())
    assert patch.add[1].type == model.types[best]
    assert patch.add[1].score == pytest.approx(float(np.sqrt(alone[:, best].prod())))
    with pytest.raises(InputError, match="ends beyond document 'd'"):
        model.retype([document], {"d": [Mention(((0, 99),), "X")]})
    with pytest.raises(UsageError, match="types given spans and cannot find any"):
        model.predict([document])


def test_a_corpus_with_one_type_or_none_is_refused() -> None:
    one = Document(id="d", text="pain", mentions=(Mention(((0, 4),), "Disease"),))
    vocabulary = WordVocabulary(WORDS, lowercase=False)
    with pytest.raises(InputError, match="the corpus has one type, 'Disease'"):
        typer_data([one], vocabulary, SpanTyperSettings())
    assert typer_data([one], vocabulary, SpanTyperSettings(nothing=True)).types == ("Disease",)
    with pytest.raises(InputError, match="hold no mention"):
        typer_data([Document(id="d", text="pain")], vocabulary, SpanTyperSettings())


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    model = model_of(nothing=True)
    save_typer(tmp_path, model)
    surfaces = [("lung", "cancer"), ("unseen",)]
    assert np.array_equal(
        load_typer(tmp_path).probabilities(surfaces), model.probabilities(surfaces)
    )
    manifest = json.loads((tmp_path / "typer.json").read_text())
    for change, said in (
        ({"format": 9}, "has format 9"),
        ({"files": {}}, "does not list"),
        ({"types": ["A", "B", "C"]}, "classify.bias has the shape"),
        ({"surprise": 1}, "is not the file of a span typer"),
    ):
        (tmp_path / "typer.json").write_text(json.dumps({**manifest, **change}))
        with pytest.raises(ModelError, match=said):
            load_typer(tmp_path)
    (tmp_path / "typer.json").write_text(json.dumps(manifest))
    (tmp_path / "words.json").write_text("[]")
    with pytest.raises(ModelError, match="missing or damaged"):
        load_typer(tmp_path)
    with pytest.raises(ModelError, match="holds no span typer"):
        load_typer(tmp_path / "elsewhere")


def test_the_sum_of_a_draw_of_everything_is_the_loss_of_everything() -> None:
    document = Document(id="d", text=TEXT, sentences=SENTENCES, mentions=GOLD)
    vocabulary = WordVocabulary(WORDS, lowercase=False)
    data = typer_data([document], vocabulary, SpanTyperSettings(nothing=True, width=2, negatives=0))
    torch.manual_seed(1)
    network = SpanTyper(torch.randn(len(WORDS) + 1, 6), hidden=4, classes=3)
    assert data.pool is not None
    every = data.pool.drawn(0, np.random.default_rng(1))
    assert every is not None
    parts = [count_loss(network(t.rows, t.batch), t.counts) for t in (data.taught, every)]
    _, others = brute_nothing(document, vocabulary, 2)
    total = 0.0
    strings = [as_counter(data.taught, kind) for kind in range(2)]
    strings.append(as_counter(data.taught, 2) + others)
    for kind, found in enumerate(strings):
        for string, count in found.items():
            rows, batch = vocabulary.batch([tuple([*WORDS, "?"][row] for row in string)])
            total -= count * torch.log_softmax(network(rows, batch), dim=1)[0, kind].item()
    assert sum(part.item() for part in parts) == pytest.approx(total, rel=1e-5)


def test_distributions_of_given_mentions() -> None:
    tables = np.array([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]])
    whole = GivenMention(
        document="1", spans=((0, 2),), gold="A", probabilities=tables[:1], predicted=("A",)
    )
    torn = GivenMention(
        document="1", spans=((0, 2), (4, 6)), gold="B", probabilities=tables, predicted=("A", "B")
    )
    new = GivenMention(
        document="2", spans=((0, 2),), gold="X", probabilities=tables[:1], predicted=("A",)
    )
    first, second, third = to_distributions([whole, torn, new], ("A", "B", "C"))
    assert first.found
    assert first.probabilities == pytest.approx((0.0, 0.5, 0.25, 0.25))
    means = [math.sqrt(a * b) for a, b in zip(*tables.tolist(), strict=True)]
    assert second.probabilities == pytest.approx((0.0, *(mean / sum(means) for mean in means)))
    assert not second.found  # one of two fragments
    assert (third.unreachable, third.probabilities) == ("unknown-type", ())
