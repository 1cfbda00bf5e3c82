"""What a run may remove: what it wrote itself, and nothing else."""

from __future__ import annotations

import errno
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from safetensors.torch import load_file, save_file

from fascicle.errors import OutputError, RecipeError
from fascicle.loading import load
from fascicle.settings.base import Settings
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.engine import run as engine
from fascicle.training.engine.events import Validated
from fascicle.training.engine.folder import check_inputs_outside, check_run_folder, remove_if_empty
from fascicle.training.recogniser import run as recogniser
from fascicle.training.run import run_recipe

Maker = Callable[..., Recipe]


class FailedError(Exception):
    """What goes wrong in a test."""


def fails(*_: Any, **__: Any) -> Iterator[Any]:
    raise FailedError


def begin(folder: Path, *, resume: bool = False, sign: bool = False) -> None:
    with remove_if_empty(folder, sign="metrics.jsonl") as start:
        start.make(resume=resume)
        (folder / "recipe.json").write_text("{}")
        (folder / "predictions").mkdir()
        (folder / "predictions" / "dev-epoch-01.tsv").write_text("")
        if sign:
            (folder / "metrics.jsonl").write_text("")
        raise FailedError


@pytest.mark.parametrize("resume", [False, True])
def test_a_file_is_no_run_folder(tmp_path: Path, *, resume: bool) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is a file"):
        check_run_folder(tmp_path / "file", Settings(), resume=resume)


@pytest.mark.parametrize("resume", [False, True])
def test_a_run_that_gave_nothing_leaves_no_folder(tmp_path: Path, *, resume: bool) -> None:
    with pytest.raises(FailedError):
        begin(tmp_path / "runs" / "x", resume=resume)
    assert list((tmp_path / "runs").iterdir()) == []


def test_what_gave_something_stays(tmp_path: Path) -> None:
    with pytest.raises(FailedError):
        begin(tmp_path / "x", sign=True)
    assert (tmp_path / "x" / "recipe.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks of folders")
@pytest.mark.parametrize("resume", [False, True])
def test_one_process_at_a_time_works_in_a_run_folder(
    tiny_recipe: Maker, tmp_path: Path, resume: bool
) -> None:
    recipe, folder = tiny_recipe(training={"epochs": 2}), tmp_path / "run"
    first = run_recipe(recipe, folder)
    next(event for event in first if isinstance(event, Validated))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(OutputError, match="another process"):
        next(run_recipe(recipe, folder, resume=resume))
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    first.close()  # type: ignore[attr-defined]
    assert list(run_recipe(recipe, folder, resume=True))  # nobody holds it any more


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks of folders")
@pytest.mark.parametrize("resume", [False, True])
def test_a_new_run_holds_its_folder(tmp_path: Path, *, resume: bool) -> None:
    with remove_if_empty(tmp_path / "x", sign="metrics.jsonl") as start:
        start.make(resume=resume)
        with (
            pytest.raises(OutputError, match="another process"),
            remove_if_empty(tmp_path / "x", sign="metrics.jsonl"),
        ):
            pass
    with remove_if_empty(tmp_path / "x", sign="metrics.jsonl"):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and locks of folders")
def test_a_run_folder_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there", target_is_directory=True)
    with remove_if_empty(tmp_path / "link", sign="metrics.jsonl"):
        with (
            pytest.raises(OutputError, match="another process"),
            remove_if_empty(tmp_path / "there", sign="metrics.jsonl"),
        ):
            pass
        with (
            pytest.raises(OutputError, match="another process"),
            remove_if_empty(tmp_path / "link", sign="metrics.jsonl"),
        ):
            pass


def test_a_run_folder_where_there_are_no_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")

    def none(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.raises(FailedError):
        begin(tmp_path / "x", sign=True)
    with (
        remove_if_empty(tmp_path / "x", sign="metrics.jsonl"),
        remove_if_empty(tmp_path / "x", sign="metrics.jsonl"),
    ):
        pass


def test_files_of_others_stay(tmp_path: Path) -> None:
    def add_and_fail() -> None:
        with remove_if_empty(tmp_path / "x", sign="metrics.jsonl") as start:
            start.make()
            (tmp_path / "x" / "run.json").write_text("{}")
            (tmp_path / "x" / "notes.txt").write_text("mine")
            raise FailedError

    with pytest.raises(FailedError):
        add_and_fail()
    assert [path.name for path in (tmp_path / "x").iterdir()] == ["notes.txt"]


def test_a_folder_that_another_process_made_stays(tmp_path: Path) -> None:
    """Two runs are begun at the same time: the second one finds that it is too late, and removes
    nothing.
    """
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "recipe.json").write_text("of the other one")
    with pytest.raises(OutputError, match="exists already"):
        begin(tmp_path / "x")
    assert (tmp_path / "x" / "recipe.json").read_text() == "of the other one"


def test_training_that_fails_early_leaves_what_is_not_its_own(
    tiny_recipe: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((recogniser, "Trainer"), (engine, "write_json")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, fails)
            with pytest.raises(FailedError):
                list(run_recipe(tiny_recipe(), tmp_path / "run"))
            assert not (tmp_path / "run").exists()


def test_files_in_the_folders_that_training_renews_are_kept(
    tiny_recipe: Maker, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    for event in run_recipe(tiny_recipe(training={"epochs": 4}), folder):
        if isinstance(event, Validated) and event.epoch == 1:
            for inner in ("best", "state"):
                (folder / inner / "notes.txt").write_text("mine")
                (folder / inner / "deep").mkdir()
                (folder / inner / "deep" / "thesis.txt").write_text("years")
            (folder / "state" / "state.json").write_text("edited")
    for inner in ("best", "state"):
        assert (folder / inner / "notes.txt").read_text() == "mine"
        assert (folder / inner / "deep" / "thesis.txt").read_text() == "years"
    assert sorted(path.name for path in (folder / "state").glob("state*")) == ["state.json.kept"]
    assert load(folder / "best", links=False).annotate(["aspirin"])


def test_a_corpus_in_its_own_run_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "train.tsv").write_text("x")
    (tmp_path / "link.tsv").symlink_to(tmp_path / "run" / "train.tsv")
    for path in ("run/train.tsv", "link.tsv"):
        with pytest.raises(OutputError, match=r"corpus\.train"):
            check_inputs_outside(tmp_path / "run", {"corpus.train": str(tmp_path / path)})
    check_inputs_outside(tmp_path / "run", {"corpus.train": str(tmp_path / "running.tsv")})


def test_resuming_never_removes_a_run(
    tiny_recipe: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    for event in run_recipe(tiny_recipe(training={"epochs": 2}), folder):
        if isinstance(event, Validated):
            break
    (folder / "metrics.jsonl").unlink()
    kept = tmp_path / "kept"
    shutil.copytree(folder, kept)
    monkeypatch.setattr(recogniser, "Trainer", fails)
    with pytest.raises(FailedError):
        list(run_recipe(tiny_recipe(training={"epochs": 2}), folder, resume=True))
    assert (folder / "best" / "model.safetensors").read_bytes() == (
        kept / "best" / "model.safetensors"
    ).read_bytes()


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ("training", "batch_size"),
        ("training", "epochs"),
        ("reading", "max_length"),
        ("reading", "overlap"),
    ],
)
def test_numbers_that_cannot_be_meant_are_refused(tiny_recipe: Maker, table: str, key: str) -> None:
    for value in (99999999999999999999, 2**63, 2**31):
        with pytest.raises(RecipeError, match=rf"{table}\.{key}"):
            tiny_recipe(**{table: {key: value}})


def damaged(folder: Path, name: str, change: Callable[[bytes], bytes | None]) -> None:
    """Changes a file, or removes it."""
    content = change((folder / name).read_bytes())
    (folder / name).unlink() if content is None else (folder / name).write_bytes(content)


def without(key: str) -> Callable[[bytes], bytes]:
    """A JSON object, or lines of them, without a key."""

    def change(content: bytes) -> bytes:
        objects = (
            [json.loads(line) for line in content.splitlines()]
            if b"\n{" in content
            else [json.loads(content)]
        )
        return b"\n".join(
            json.dumps({k: v for k, v in one.items() if k != key}).encode() for one in objects
        )

    return change


@pytest.fixture(scope="module")
def stopped(tiny_recipe: Maker, tmp_path_factory: pytest.TempPathFactory) -> tuple[Recipe, Path]:
    """A run that was killed in its third epoch."""
    recipe, folder = tiny_recipe(training={"epochs": 4}), tmp_path_factory.mktemp("stopped") / "run"
    events = run_recipe(recipe, folder)
    next(event for event in events if isinstance(event, Validated) and event.epoch == 2)
    events.close()  # type: ignore[attr-defined]
    return recipe, folder


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("run.json", without("data")),
        ("run.json", lambda content: content[:-20]),
        ("run.json", lambda content: b"[]"),
        ("run.json", lambda content: None),
        ("metrics.jsonl", lambda content: content[:-20]),
        ("metrics.jsonl", without("dev")),
        ("metrics.jsonl", lambda content: b"3\n"),
        ("metrics.jsonl", lambda content: None),
        ("state/state.json", without("optimizer")),
        ("state/state.json", lambda content: content[:-20]),
        ("state/state.json", lambda content: None),
        ("state/state.safetensors", lambda content: content[: len(content) // 2]),
        ("state/state.safetensors", lambda content: None),
        (
            "state/state.safetensors",
            lambda content: content[:-9] + bytes([content[-9] ^ 64]) + content[-8:],
        ),
        ("state/since.json", without("losses")),
        ("state/since.json", lambda content: b""),
    ],
)
def test_what_a_run_cannot_go_on_from_is_one_sentence(
    stopped: tuple[Recipe, Path], tmp_path: Path, name: str, change: Callable[[bytes], bytes | None]
) -> None:
    recipe, folder = stopped[0], tmp_path / "run"
    shutil.copytree(stopped[1], folder)
    damaged(folder, name, change)
    before = {path: path.read_bytes() for path in (folder / "state").iterdir()}
    with pytest.raises(OutputError, match="start a new run") as caught:
        list(run_recipe(recipe, folder, resume=True))
    assert "\n" not in str(caught.value)
    assert {path: path.read_bytes() for path in (folder / "state").iterdir()} == before


def test_the_state_of_another_model_is_refused(
    stopped: tuple[Recipe, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(stopped[1], folder)
    path = folder / "state" / "state.safetensors"
    larger = {
        name: tensor.repeat(2) if tensor.ndim == 1 else tensor
        for name, tensor in load_file(path).items()
    }
    save_file(larger, path)
    with pytest.raises(OutputError, match="start a new run"):
        list(run_recipe(stopped[0], folder, resume=True))
