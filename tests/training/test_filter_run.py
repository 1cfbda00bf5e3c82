"""Training a filter: what its folder holds, that a kill changes nothing, what is refused, and
what it is used for.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.runs import finish

from fascicle.cli import main
from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.files.source import Source
from fascicle.errors import FascicleError, InputError, ModelError, RecipeError
from fascicle.formats.predictions import Prediction, read, text_hash, write
from fascicle.loading import load, load_filter
from fascicle.models.export.folders import export_filter
from fascicle.pipeline.loading import open_settings
from fascicle.settings.pipeline import PipelineSettings
from fascicle.settings.recipes.any import parse_any
from fascicle.settings.recipes.filter import FilterRecipe, read_filter_manifest
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.steps import FilterStep
from fascicle.training.corpus import read_part
from fascicle.training.engine.events import Note, Validated
from fascicle.training.engine.loop import StepDone
from fascicle.training.filter.data import gather
from fascicle.training.filter.judging import FilterFinished
from fascicle.training.filter.members import read_members
from fascicle.training.recogniser.parts import read_parts

Maker = Callable[..., FilterRecipe]
Said = dict[str, list[Mention]]


@pytest.fixture(scope="module")
def documents(tiny_recipe: Callable[..., Recipe]) -> list[Document]:
    return read_part(tiny_recipe().corpus, "dev")


def wrong(document: Document) -> list[Mention]:
    """Mistakes that the prompt gives away, for the encoder knows nothing: words as drugs, of
    which there are none.
    """
    return [Mention((word,), "drug") for word in document.words or ()][:4]


def write_said(path: Path, documents: list[Document], said: Said, *, hashed: bool = True) -> Path:
    write(
        path,
        [
            Prediction(
                id=d.id,
                sha256=text_hash(d.text) if hashed else None,
                mentions=tuple(sorted(said.get(d.id, []), key=lambda m: (m.spans, m.type))),
            )
            for d in documents
        ],
        overwrite=True,
    )
    return path


@pytest.fixture(scope="module")
def mistakes(documents: list[Document], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Predictions: all gold, and as many mistakes again."""
    folder = tmp_path_factory.mktemp("mistakes")
    said = {d.id: [*d.layer(GOLD), *wrong(d)] for d in documents}
    return write_said(folder / "mistakes.jsonl", documents, said)


@pytest.fixture(scope="module")
def make(tiny_encoder: Path, toy_corpus: Path, tiny_run: Path, mistakes: Path) -> Maker:
    defaults: dict[str, Any] = {
        "corpus": {"train": str(toy_corpus), "dev": str(toy_corpus), "documents": "sentence"},
        "members": {"dev": [str(tiny_run), str(mistakes)]},
        "model": {"encoder": str(tiny_encoder)},
        "reading": {"max_length": 48},
        "filter": {"held_out": 0.2, "threshold_part": 0.2},
        "training": {"epochs": 3, "learning_rate": 3e-3, "batch_size": 4, "precision": "fp32"},
    }

    def made(**changes: Any) -> FilterRecipe:
        tables = {k: {**v, **changes.pop(k, {})} for k, v in defaults.items()}
        return parse_any({**tables, **changes}, origin="meta.toml")

    return made


@pytest.fixture(scope="module")
def trained(
    make: Maker, mistakes: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[Any]]:
    folder = tmp_path_factory.mktemp("filter") / "run"
    members = {"train": [str(mistakes)]}  # cross-fitted
    training = {"epochs": 12, "learning_rate": 2e-3}
    recipe = make(
        training=training, members=members, model={"pool": "mean"}, filter={"positives": 3}
    )
    return folder, finish(recipe, folder)


def test_a_run_folder(trained: tuple[Path, list[Any]]) -> None:
    folder, events = trained
    names = {"recipe.json", "run.json", "split.json", "metrics.jsonl", "best", "scores.json"}
    assert names <= {path.name for path in folder.iterdir()} <= names | {"predictions"}
    last = events[-1]
    assert isinstance(last, FilterFinished)
    epochs = [event for event in events if isinstance(event, Validated)]
    assert len(epochs) == 12
    best = max(epochs, key=lambda event: (event.lines[0]["held_out"]["f1"], -event.epoch))
    assert (last.epoch, last.held_out.as_dict()) == (best.epoch, best.lines[0]["held_out"])
    scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    assert scores["threshold"]["documents"] == 2
    found = scores["on_threshold_documents"]
    assert found["union"]["recall"] >= max(
        found["run"]["recall"], found["mistakes"]["recall"], found["kept"]["recall"]
    )
    assert found["kept"]["f1"] >= found["half"]["f1"]
    assert read_filter_manifest(folder / "best").threshold == last.threshold
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert run["data"]["members.dev.0"]["files"] == 13
    assert sum(isinstance(event, StepDone) for event in events) == run["steps"]
    split = json.loads((folder / "split.json").read_text(encoding="utf-8"))
    used = [set(split["dev"][use]) for use in ("learn", "held_out", "threshold")]
    assert len(set.union(*used)) == sum(map(len, used)) == 10
    assert split["train"]["threshold"] == []


def test_it_learns_what_it_is_shown(
    trained: tuple[Path, list[Any]], documents: list[Document]
) -> None:
    folder, _ = trained
    judge = load_filter(folder).with_threshold(0.5)
    patches = judge.judge(documents, [[*d.layer(GOLD), *wrong(d)] for d in documents])
    kept = {(d.id, m.type, m.spans) for d, p in zip(documents, patches, strict=True) for m in p.add}
    true = {(d.id, m.type, m.spans) for d in documents for m in d.layer(GOLD)}
    false = {(d.id, m.type, m.spans) for d in documents for m in wrong(d)}
    assert len(kept & true) > 0.9 * len(true)
    assert len(kept & false) < 0.1 * len(false)


def test_the_epoch_is_chosen_by_what_is_kept(
    make: Maker, tmp_path: Path, tiny_run: Path, documents: list[Document]
) -> None:
    """The F1 of the filtered predictions on the held-out documents, at the best of all
    thresholds, by plain search.
    """
    hard = {d.id: [Mention((word,), "Disease") for word in d.words or ()][:3] for d in documents}
    mistakes = write_said(tmp_path / "hard.jsonl", documents, hard)
    recipe = make(
        members={"dev": [str(tiny_run), str(mistakes)]},
        model={"pool": "mean"},
        training={"epochs": 8, "learning_rate": 3e-3},
        filter={"select": "kept-f1", "held_out": 0.4},
    )
    folder = tmp_path / "run"
    events = finish(recipe, folder)
    epochs = [event for event in events if isinstance(event, Validated)]
    last = events[-1]
    assert isinstance(last, FilterFinished)
    merits = {event.epoch: event.lines[0]["held_out"]["kept-f1"] for event in epochs}
    best = max(epochs, key=lambda event: (merits[event.epoch], -event.epoch))
    assert last.epoch == best.epoch
    assert len(set(merits.values())) > 1
    split = json.loads((folder / "split.json").read_text(encoding="utf-8"))["dev"]["held_out"]
    held = [d for d in read_parts(recipe.corpus).dev if d.id in split]
    said = [
        {p.id: p.mentions for p in read(Source(path=str(path)))}
        for path in (predicted(tiny_run), mistakes)
    ]
    union = [list({(m.type, m.spans): m for one in said for m in one[d.id]}.values()) for d in held]
    chances = list(load_filter(folder).chances(held, union))
    flat = [
        (d.id, m.type, m.spans) for d, mentions in zip(held, union, strict=True) for m in mentions
    ]
    gold = {(d.id, m.type, m.spans) for d in held for m in d.layer(GOLD)}
    f1 = []
    for cut, _ in chances:
        kept = {key for key, (chance, _) in zip(flat, chances, strict=True) if chance >= cut}
        f1.append(2 * len(kept & gold) / (len(kept) + len(gold)))
    assert merits[best.epoch] == pytest.approx(max(f1))
    line = json.loads(
        (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[best.epoch - 1]
    )
    assert line["held_out"]["kept-f1"] == merits[best.epoch]


def predicted(run: Path) -> Path:
    """What the chosen model of a run says of dev."""
    return next(path for path in sorted((run / "predictions").glob("dev.tsv*")))


def test_what_is_kept_needs_gold_in_the_held_out_documents(
    make: Maker, tmp_path: Path, documents: list[Document]
) -> None:
    from fascicle.formats import write as write_documents

    bare = [msgspec.structs.replace(d, mentions=()) for d in documents]
    write_documents(tmp_path / "dev.jsonl", bare)
    said = write_said(
        tmp_path / "said.jsonl", bare, {d.id: [*d.layer(GOLD), *wrong(d)] for d in documents}
    )
    recipe = make(
        corpus={"dev": str(tmp_path / "dev.jsonl"), "documents": "auto"},
        members={"dev": [str(said)]},
        filter={"select": "kept-f1"},
    )
    with pytest.raises(
        RecipeError, match='"kept-f1" needs a gold mention in the held-out documents of dev'
    ):
        finish(recipe, tmp_path / "run")


def test_what_is_kept_depends_on_no_other_mention(
    trained: tuple[Path, list[Any]], documents: list[Document]
) -> None:
    judge = load_filter(trained[0])
    found = [[*d.layer(GOLD), *wrong(d)] for d in documents]
    together = judge.judge(documents, found)
    for document, mentions, patch in zip(documents, found, together, strict=True):
        alone = [judge.judge([document], [[mention]])[0].add for mention in mentions]
        kept = {m.key: m.score for part in alone for m in part}
        assert kept.keys() == {m.key for m in patch.add}
        assert all(abs((m.score or 0) - (kept[m.key] or 0)) <= 2e-6 for m in patch.add)
    assert all(m.source == "meta" for patch in together for m in patch.add)


def test_a_step_computes_on_its_device(trained: tuple[Path, list[Any]]) -> None:
    step = FilterStep(name="f", filter=str(trained[0]), sources=("a",), device="meta")
    settings = PipelineSettings(name="p", given=("mentions",), folder="", steps=(("filter", step),))
    scorer = open_settings(settings).steps[-1].judge._scorer
    assert {weights.device.type for weights in scorer.model.parameters()} == {"meta"}


def test_the_onnx_graph_says_the_same(
    trained: tuple[Path, list[Any]], documents: list[Document], tmp_path: Path
) -> None:
    folder = trained[0]
    manifest = export_filter(folder, tmp_path / "out", int8=False, name="mine")
    assert manifest.threshold == read_filter_manifest(folder / "best").threshold
    export_filter(folder, tmp_path / "small", sample=documents, int8=True)
    found = [[*d.layer(GOLD), *wrong(d)] for d in documents]
    given, exact, small = (
        list(load_filter(f).chances(documents, found))
        for f in (folder, tmp_path / "out", tmp_path / "small")
    )
    assert all(abs(a - b) < 1e-4 for (a, _), (b, _) in zip(given, exact, strict=True))
    assert sum(
        (a >= 0.5) == (b >= 0.5) for (a, _), (b, _) in zip(given, small, strict=True)
    ) > 0.9 * len(given)
    assert load_filter(tmp_path / "out").name == "mine"


def test_no_example_is_on_two_sides_and_gold_is_never_incorrect(
    make: Maker, mistakes: Path
) -> None:
    recipe = make(members={"dev": [str(mistakes)], "train": [str(mistakes)]})
    parts = read_parts(recipe.corpus)
    members = read_members(recipe, dev=parts.dev, train=parts.train)
    material = gather(recipe, train=parts.train, dev=parts.dev, members=members)
    sides = []
    for use in ("learn", "held_out"):
        documents, found = material.of(use)
        sides.append(
            {
                (part, d.id)
                for part in material.splits
                for d in documents
                if d.id in getattr(material.splits[part], use)
            }
        )
        for document, examples in zip(documents, found, strict=True):
            gold = {(m.type, m.spans) for m in document.layer(GOLD)}
            for one in examples:
                assert one.correct == ((one.mention.type, one.mention.spans) in gold)
            assert sum(one.correct for one in examples) == len(gold)
            assert len(examples) > len(gold)  # mistakes on train too: cross-fitted
    split = material.splits
    for part in ("train", "dev"):
        assert not set(split[part].learn) & set(split[part].held_out)
    assert not {e.document for e in material.examples["dev"]} & set(split["dev"].threshold)


def test_which_epochs_give_negatives(make: Maker, tiny_run: Path, tmp_path: Path) -> None:
    sizes = {}
    for epochs in ("all", "best", "last"):
        recipe = make(members={"dev": [str(tiny_run)], "epochs": epochs, "last": 2})
        parts = read_parts(recipe.corpus)
        (member,), _ = read_members(recipe, dev=parts.dev, train=parts.train)
        sizes[epochs] = len(member.wrong)
        assert member.best == {
            p.id: p.mentions for p in read(Source(path=str(tiny_run / "predictions" / "dev.tsv")))
        }
    assert sizes == {"all": 13, "best": 1, "last": 2}
    packed = tmp_path / "packed"
    packed.mkdir()
    for path in (tiny_run / "predictions").glob("dev*.tsv"):
        (packed / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    recipe = make(members={"dev": [str(packed)]})
    (member,), _ = read_members(recipe, dev=parts.dev, train=parts.train)
    assert len(member.wrong) == 13
    for path in packed.glob("dev-epoch-*"):
        path.rename(packed / path.name.replace("dev-epoch-", "dev-step-0000"))
    (by_step,), _ = read_members(recipe, dev=parts.dev, train=parts.train)
    assert by_step.wrong == member.wrong


def test_members_of_one_name_stay_two(
    make: Maker, documents: list[Document], tmp_path: Path
) -> None:
    paths = []
    for at, name in enumerate(("a/dev", "b/dev", "union")):
        place = tmp_path / f"{name}.jsonl"
        place.parent.mkdir(exist_ok=True)
        paths.append(
            str(
                write_said(
                    place, documents, {documents[0].id: [Mention(((at, at + 2),), "Disease")]}
                )
            )
        )
    recipe = make(members={"dev": paths})
    parts = read_parts(recipe.corpus)
    members, _ = read_members(recipe, dev=parts.dev, train=parts.train)
    assert [member.name for member in members] == ["dev", "dev (2)", "union (2)"]
    assert [len(next(iter(m.wrong[0].values()))) for m in members] == [1, 1, 1]


Bad = Callable[[Path, list[Document]], dict[str, Any]]


def dev(
    given: Callable[[list[Document]], Said], *, others: Sequence[Document] = (), hashed: bool = True
) -> Bad:
    """The one member of dev says so, of the documents or of others."""

    def changes(folder: Path, documents: list[Document]) -> dict[str, Any]:
        path = write_said(
            folder / "m.jsonl", list(others) or documents, given(documents), hashed=hashed
        )
        return {"members": {"dev": [str(path)]}}

    return changes


def in_first(*rows: tuple[int, int, str]) -> Callable[[list[Document]], Said]:
    return lambda documents: {documents[0].id: [Mention(((a, b),), kind) for a, b, kind in rows]}


def renamed(folder: Path, documents: list[Document]) -> dict[str, Any]:
    said = dev(in_first((0, 3, "Chemical"), (0, 2, "Disease")))(folder, documents)
    return {"corpus": {"types": {"rename": {"Chemical": "Drug"}}}, **said}


def other_texts(folder: Path, documents: list[Document]) -> dict[str, Any]:
    return dev(lambda _: {}, others=[Document(id=d.id, text=d.text + "!") for d in documents])(
        folder, documents
    )


BAD: dict[str, tuple[Bad, type[FascicleError], list[str]]] = {
    "one class": (
        dev(lambda d: {x.id: list(x.layer(GOLD)) for x in d}),
        InputError,
        ["made no mistake"],
    ),
    "marker": (
        lambda p, d: {"model": {"start_marker": "patient"}},
        ModelError,
        ["marker 'patient'"],
    ),
    "other texts": (other_texts, InputError, ["m.jsonl", "another text", "10 documents"]),
    "other documents": (
        dev(lambda _: {}, others=[Document(id="x", text="no")]),
        InputError,
        ["'x'", "dev"],
    ),
    "beyond": (dev(in_first((90, 99, "Disease")), hashed=False), InputError, ["ends at 99"]),
    "types": (dev(in_first((0, 3, "DISEASE"))), InputError, ["'DISEASE'", "Chemical, Disease"]),
    "a type that the recipe renames": (renamed, InputError, ["'Chemical'", "Disease, Drug"]),
    "another name beside a shared one": (
        dev(in_first((0, 3, "Chem"), (0, 2, "Disease"))),
        InputError,
        ["'Chem'", "Chemical, Disease", "did you mean 'Chemical'?"],
    ),
    "validations": (
        lambda p, d: {"training": {"validate_every_steps": 5}},
        RecipeError,
        ["validate_every_steps"],
    ),
    "no epochs": (
        lambda p, d: {"members": {"dev": [str(p)]}},
        InputError,
        ["no predictions of epochs"],
    ),
    "nothing": (lambda p, d: {"members": {"dev": [str(p / "no")]}}, InputError, ["does not exist"]),
    "folder on train": (lambda p, d: {"members": {"train": [str(p)]}}, InputError, ["is a folder"]),
    "too long": (lambda p, d: {"reading": {"max_length": 128}}, RecipeError, ["64 pieces"]),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused(make: Maker, documents: list[Document], tmp_path: Path, case: str) -> None:
    changes, kind, named = BAD[case]
    with pytest.raises(kind) as raised:
        finish(make(**changes(tmp_path, documents)), tmp_path / "run")
    assert all(name in str(raised.value) for name in named), raised.value
    assert not (tmp_path / "run").exists()


def test_runs_of_other_data_and_half_a_run(make: Maker, tiny_run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(tiny_run, copy, ignore=shutil.ignore_patterns("best"))
    facts = json.loads((copy / "run.json").read_text(encoding="utf-8"))
    facts["data"]["dev"]["sha256"] = "0" * 64
    (copy / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    with pytest.raises(InputError, match="chose on other development data"):
        finish(make(members={"dev": [str(copy)]}), tmp_path / "run")
    facts["data"]["parts.one.dev"] = facts["data"].pop("dev")
    (copy / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    with pytest.raises(InputError, match="trained on several parts"):
        finish(make(members={"dev": [str(copy)]}), tmp_path / "run")
    (copy / "predictions" / "dev.tsv").unlink()
    with pytest.raises(InputError, match="it is not complete"):
        finish(make(members={"dev": [str(copy)]}), tmp_path / "run")


def test_a_floor_that_cannot_be_reached_is_told(
    make: Maker, tmp_path: Path, documents: list[Document]
) -> None:
    nothing_right = {d.id: [Mention((d.words or ())[-1:], "Disease")] for d in documents}
    path = write_said(tmp_path / "wrong.jsonl", documents, nothing_right)
    recipe = make(
        members={"dev": [str(path)]},
        filter={"threshold": "recall", "floor": 0.9},
        training={"epochs": 1},
    )
    *events, last = finish(recipe, tmp_path / "run")
    assert last.threshold.value == 0.5
    assert any(
        isinstance(e, Note) and e.text.startswith("the threshold stays 0.5, for none")
        for e in events
    )


def test_types_that_the_gold_lacks_are_told(
    make: Maker,
    tmp_path: Path,
    documents: list[Document],
    capsys: pytest.CaptureFixture[str],
    toy_corpus: Path,
) -> None:
    said = {d.id: [*d.layer(GOLD), Mention((d.words or ())[-1:], "Xylem")] for d in documents}
    path = write_said(tmp_path / "m.jsonl", documents, said)
    recipe = make(members={"dev": [str(path)]}, training={"epochs": 1})
    told = [event.text for event in finish(recipe, tmp_path / "run") if isinstance(event, Note)]
    assert "m predicts what the gold never has, and all of it is learnt as incorrect: Xylem" in told
    where = [
        "--filter",
        str(tmp_path / "run"),
        "--texts",
        str(toy_corpus),
        "--documents",
        "sentence",
    ]
    assert main(["combine", "meta", str(path), *where, "-o", str(tmp_path / "kept.jsonl")]) == 0
    notes = capsys.readouterr().err
    assert "what it is to judge has the type 'Xylem', which the filter has not" in notes
    assert "only one system has a vote" not in notes


def read_all(path: Path) -> dict[str, dict[tuple[Any, ...], float | None]]:
    found = read(Source(path=str(path)))
    return {p.id: {(m.type, m.spans): m.score for m in p.mentions} for p in found}


def test_from_the_command_line(
    trained: tuple[Path, list[Any]],
    toy_corpus: Path,
    mistakes: Path,
    tiny_run: Path,
    tmp_path: Path,
    capsys: Any,
) -> None:
    other = str(tiny_run / "predictions" / "test.tsv")
    where = ["--filter", str(trained[0]), "--texts", str(toy_corpus), "--documents", "sentence"]
    assert (
        main(["combine", "union", str(mistakes), other, "-o", str(tmp_path / "union.jsonl")]) == 0
    )
    for name, more in {"meta": [], "all": ["--threshold", "0"]}.items():
        out = str(tmp_path / f"{name}.jsonl")
        assert main(["combine", "meta", str(mistakes), other, *where, *more, "-o", out]) == 0
    union, meta, all_ = (read_all(tmp_path / f"{n}.jsonl") for n in ("union", "meta", "all"))
    # accept all: the union
    assert {i: set(m) for i, m in all_.items()} == {i: set(m) for i, m in union.items()}
    value = load_filter(trained[0]).manifest.threshold.value
    expected = {
        i: {key: p for key, p in found.items() if p is not None and p >= value}
        for i, found in all_.items()
    }
    assert meta == expected
    # of one system
    assert main(["combine", "meta", str(mistakes), *where, "-o", str(tmp_path / "one.jsonl")]) == 0
    assert read_all(tmp_path / "one.jsonl") == meta  # the other one found nothing more
    capsys.readouterr()
    errors = {
        "needs --filter": ["meta", str(mistakes)],
        "--texts is for the rule meta": ["union", str(mistakes), other, "--texts", "x"],
        "the threshold '2' is not allowed": ["meta", str(mistakes), *where, "--threshold", "2"],
        "holds no filter.json": ["meta", str(mistakes), "--filter", str(tmp_path), "--texts", "x"],
        "lacks 10 documents": [
            "meta",
            str(mistakes),
            *where[:2],
            "--texts",
            str(trained[0] / "other.txt"),
        ],
    }
    (trained[0] / "other.txt").write_text("other", encoding="utf-8")
    for said, arguments in errors.items():
        assert main(["combine", *arguments, "-o", str(tmp_path / "bad.tsv")]) == 2
        assert said in capsys.readouterr().err
    (trained[0] / "other.txt").unlink()


def test_training_from_the_command_line(
    tiny_encoder: Path, toy_corpus: Path, mistakes: Path, tmp_path: Path, capsys: Any
) -> None:
    recipe = tmp_path / "meta.toml"
    recipe.write_text(
        f'[corpus]\ntrain = "{toy_corpus}"\ndev = "{toy_corpus}"\ntest = '
        f'"{toy_corpus}"\ndocuments = "sentence"\n'
        f'[members]\ndev = ["{mistakes}"]\n[model]\nencoder = '
        f'"{tiny_encoder}"\n[reading]\nmax_length = 48\n'
        '[filter]\nselect = "accuracy"\n[training]\nepochs = 1\nprecision = "fp32"\n',
        encoding="utf-8",
    )
    assert main(["train", str(recipe), "-o", str(tmp_path / "run"), "--seed", "4"]) == 0
    out, err = capsys.readouterr()
    assert "held out (epoch 1): accuracy" in out
    assert "  union: P " in out
    assert "corpus.test is not read" in err
    assert "combine meta PRED... --filter" in err
    assert main(["train", str(recipe), "-o", str(tmp_path / "other"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["epoch"] == 1
    recipe.write_text(
        recipe.read_text(encoding="utf-8").replace("mistakes.jsonl", "no.jsonl"), encoding="utf-8"
    )
    assert main(["train", str(recipe), "-o", str(tmp_path / "third")]) == 2
    assert "members.dev.0 of the recipe" in capsys.readouterr().err
    assert not (tmp_path / "third").exists()


def test_other_names_for_types_are_refused_before_a_filter_too(
    trained: tuple[Path, list[Any]],
    toy_corpus: Path,
    documents: list[Document],
    tmp_path: Path,
    capsys: Any,
) -> None:
    """The type is what the filter reads first: of another name for it, it has learnt nothing."""
    where = ["--filter", str(trained[0]), "--texts", str(toy_corpus), "--documents", "sentence"]
    (types := tmp_path / "types.toml").write_text('"DISEASE" = "Disease"\n', encoding="utf-8")
    for name, code, said in (
        ("DISEASE", 2, "the filter has the type 'Disease'"),
        ("Organ", 2, "no other system has any of them"),
    ):
        told = {d.id: [Mention(m.spans, name) for m in d.layer(GOLD)] for d in documents}
        path = str(write_said(tmp_path / f"{name}.jsonl", documents, told))
        given = ["combine", "meta", path, *where, "-o", str(tmp_path / f"{name}.tsv")]
        assert main(given) == code
        assert said in capsys.readouterr().err
        assert not (tmp_path / f"{name}.tsv").exists()
        assert main([*given, "--distinct-types"]) == 0
        if name == "DISEASE":
            assert main([*given, "--map", str(types), "--overwrite"]) == 0


def test_an_ensemble_with_a_filter(
    trained: tuple[Path, list[Any]],
    toy_corpus: Path,
    tiny_run: Path,
    documents: list[Document],
    tmp_path: Path,
    capsys: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, flat = tmp_path / "made", tmp_path / "flat"
    given = ["ensemble", "meta", str(tiny_run), "--filter", str(trained[0])]
    assert main([*given, "-o", str(made)]) == 0
    assert main([*given, "-o", str(flat), "--flat"]) == 0
    union = [patch.add for patch in load(tiny_run / "best", links=False).predict(documents)]
    assert any(union)
    expected = [
        {(m.type, m.spans): m.score for m in patch.add}
        for patch in load_filter(trained[0]).judge(documents, union)
    ]
    for together in (1 << 30, 0):  # kept in memory, and opened for each call
        monkeypatch.setattr("fascicle.loading.TOGETHER", together)
        found = load(made, links=False).predict(documents)
        assert [{(m.type, m.spans): m.score for m in patch.add} for patch in found] == expected
        assert {m.source for patch in found for m in patch.add} == {"made"}
        for patch, kept in zip(load(flat, links=False).predict(documents), expected, strict=True):
            assert {(m.type, m.spans): m.score for m in patch.add}.items() <= kept.items()
            assert all(a.end <= b.start for a, b in pairwise(patch.add))
    capsys.readouterr()
    scored = [
        "evaluate",
        str(toy_corpus),
        "--model",
        str(made),
        "--documents",
        "sentence",
        "--json",
    ]
    assert main(scored) == 0
    assert json.loads(capsys.readouterr().out)["micro"]["predicted"] == sum(map(len, expected))
    manifest = json.loads((trained[0] / "best" / "filter.json").read_text(encoding="utf-8"))
    other = tmp_path / "other"
    shutil.copytree(trained[0] / "best", other)
    (other / "filter.json").write_text(
        json.dumps({**manifest, "types": ["CHEMICAL", "DISEASE"]}), encoding="utf-8"
    )
    assert main([*given[:-1], str(other), "-o", str(tmp_path / "no")]) == 2
    said = capsys.readouterr().err
    assert "never agree" in said
    assert "--distinct-types" in said
    assert "--map" not in said  # which this command does not have
