"""Model folders that are damaged or foreign: one clear sentence each, before anything is
predicted.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.files import intact
from fascicle.core.files.intact import check_files
from fascicle.errors import FascicleError, ModelError
from fascicle.loading import load, read_manifest
from fascicle.runtime.places import find_model, path_to_load
from fascicle.settings.folders import shipped, vocabularies
from fascicle.settings.folders.described import FILTER, TYPER
from fascicle.settings.folders.shipped import shipped_models
from fascicle.settings.heads import HEADS
from fascicle.settings.recipes.ensemble import ENSEMBLE


@pytest.fixture
def model(tiny_run: Path, tmp_path: Path) -> Path:
    """A copy of a model folder to damage."""
    return Path(shutil.copytree(tiny_run / "best", tmp_path / "model"))


def edit(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "model.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    change(values)
    path.write_text(json.dumps(values), encoding="utf-8")


def rehash(folder: Path) -> None:
    """Makes ``model.json`` agree with the files, as somebody would who changed them on purpose."""

    def change(values: dict[str, Any]) -> None:
        for name in values["files"]:
            values["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()

    edit(folder, change)


def tensors_of(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")
    rehash(folder)


def refusal(folder: Path | str) -> str:
    with pytest.raises(ModelError) as caught:
        load(folder)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_sound_folder_loads(model: Path) -> None:
    mentions = load(model, threads=1).annotate("aspirin caused pain")[0].mentions
    assert [(m.start, m.end, m.type, m.source) for m in mentions] == [
        (0, 7, "Chemical", "tiny"),
        (15, 19, "Disease", "tiny"),
    ]


@pytest.mark.parametrize("name", ["model.safetensors", "encoder.json", "tokenizer.json"])
def test_a_missing_file(model: Path, name: str) -> None:
    (model / name).unlink()
    assert refusal(model) == f"the model folder {model} lacks {name}; copy or export it again"


@pytest.mark.parametrize("name", ["model.safetensors", "encoder.json", "tokenizer.json"])
def test_a_truncated_file(model: Path, name: str) -> None:
    content = (model / name).read_bytes()
    (model / name).write_bytes(content[: len(content) // 2])
    assert refusal(model).startswith(
        f"{model / name} is damaged: its hash is not the one in model.json"
    )


def test_large_files_are_hashed_once_and_a_changed_byte_is_found(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "cache"))
    monkeypatch.setattr(intact, "LARGE", 0)
    monkeypatch.setattr(intact, "SETTLED", 0)
    check_files(model, read_manifest(model))
    with monkeypatch.context() as patched:
        patched.setattr(intact, "file_facts", None)  # what hashes is not called
        check_files(model, read_manifest(model))
    with (model / "tokenizer.json").open("r+b") as stream:
        stream.write(b"[")
    assert refusal(model).startswith(
        f"{model / 'tokenizer.json'} is damaged: its hash is not the one in model.json"
    )


@pytest.mark.parametrize("name", ["model.safetensors", "encoder.json", "tokenizer.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe"])
def test_a_file_of_other_content_whose_hash_agrees(model: Path, name: str, content: bytes) -> None:
    (model / name).write_bytes(content)
    rehash(model)
    assert str(model) in refusal(model)


def test_an_encoder_of_an_unknown_kind(model: Path) -> None:
    (model / "encoder.json").write_text('{"model_type": "no-such-network"}', encoding="utf-8")
    rehash(model)
    assert refusal(model).startswith(f"the model folder {model} is damaged (")


def test_a_missing_an_extra_and_a_misshapen_tensor(model: Path) -> None:
    import torch

    name = "heads.softmax.linear.bias"
    tensors_of(model, lambda t: t.update(stranger=torch.zeros(2)))
    assert "stranger has the shape (2,), expected is nothing" in refusal(model)
    tensors_of(model, lambda t: (t.pop("stranger"), t.update({name: torch.zeros(3)})))
    assert f"{name} has the shape (3,), expected is (5,)" in refusal(model)
    tensors_of(model, lambda t: t.pop(name))
    assert f"{name} has the shape nothing, expected is (5,)" in refusal(model)


def test_another_format_version(model: Path) -> None:
    edit(model, lambda v: v.update(format=2, novelty=True))
    assert refusal(model).endswith(
        "has model format 2; this release reads format 1: export it again"
    )


def test_a_family_of_another_release(model: Path) -> None:
    edit(model, lambda v: v["heads"]["softmax"].update(family="quantum"))
    known = ", ".join(sorted(HEADS))
    assert refusal(model) == f"the model tiny has the family 'quantum'; this release knows {known}"


def test_a_segmenter_of_another_release(model: Path) -> None:
    edit(model, lambda v: v["reading"].update(segmenter="rules@9"))
    with pytest.raises(FascicleError, match=r"'rules@9' was asked for; this release has rules@1"):
        load(model)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"format": "one"}', '{"format": 1}', '{"fascicle": 1}']
)
def test_a_manifest_that_is_none(model: Path, content: str) -> None:
    (model / "model.json").write_text(content, encoding="utf-8")
    assert refusal(model).startswith(f"{model / 'model.json'} is not a Fascicle model (")


def test_an_exchanged_tokenizer(model: Path) -> None:
    path = model / "tokenizer.json"
    path.write_text(
        path.read_text(encoding="utf-8").replace("aspirin", "aspirim"), encoding="utf-8"
    )
    rehash(model)
    assert refusal(model).startswith(
        f"the tokenizer in {model} is not the one its model.json describes"
    )


@pytest.mark.parametrize("name", ["../escape", "sub/file", "/etc/passwd", "..", ""])
def test_a_file_outside_the_folder(model: Path, name: str) -> None:
    (model.parent / "escape").write_text("", encoding="utf-8")
    (model / "sub").mkdir()
    (model / "sub" / "file").write_text("", encoding="utf-8")
    edit(model, lambda v: v["files"].update({name: hashlib.sha256(b"").hexdigest()}))
    assert ("lacks" if name in ("", "..") else "not inside its folder") in refusal(model)


def test_a_run_folder_stands_for_its_model(tiny_run: Path) -> None:
    assert load(tiny_run).manifest == load(tiny_run / "best").manifest


def test_no_model_at_all(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path} holds no model.json; give a model folder"
    (tmp_path / "weights.bin").touch()
    assert "is a file" in refusal(tmp_path / "weights.bin")


@pytest.mark.parametrize(
    ("name", "inside", "said"),
    [
        (FILTER, "", "a filter over the mentions"),
        (FILTER, "best", "a filter over the mentions"),
        (TYPER, "", "a span typer"),
        (TYPER, "model", "a span typer"),
    ],
)
def test_a_folder_of_another_kind_is_called_what_it_is(
    tmp_path: Path, name: str, inside: str, said: str
) -> None:
    (tmp_path / inside).mkdir(exist_ok=True)
    (tmp_path / inside / name).touch()
    assert refusal(tmp_path).startswith(f"{tmp_path / inside} holds no model.json; it is {said}")


def test_an_ensemble_where_a_single_model_is_read(tmp_path: Path) -> None:
    (tmp_path / ENSEMBLE).touch()
    with pytest.raises(ModelError, match="it is an ensemble, and a single model is needed"):
        read_manifest(tmp_path)


def test_names_of_shipped_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (shipped, vocabularies):
        monkeypatch.setattr(module, "assets", lambda: tmp_path / "assets")
    assert shipped_models() == ()
    assert refusal("bc5cdr") == "there is no model 'bc5cdr'; give a model folder"
    for name in ("bc5cdr@2", "bc5cdr@10", "ncbi-disease@1", "notes"):
        (tmp_path / "assets" / name).mkdir(parents=True)
        if name != "notes":
            (tmp_path / "assets" / name / "model.json").touch()
    assert shipped_models() == ("bc5cdr@10", "bc5cdr@2", "ncbi-disease@1")
    assert find_model("bc5cdr").name == "bc5cdr@10"
    assert find_model("bc5cdr@2").name == "bc5cdr@2"
    assert refusal("bc5cd") == "there is no model 'bc5cd'; did you mean 'bc5cdr'?"
    assert refusal("bc5cdr@3").startswith("there is no model 'bc5cdr@3'; did you mean 'bc5cdr@")
    assert refusal("xyz") == (
        "there is no model 'xyz'; shipped are bc5cdr@10, bc5cdr@2, ncbi-disease@1; or give a "
        "model folder"
    )


def test_the_manifest_of_a_run(tiny_run: Path) -> None:
    manifest = read_manifest(tiny_run / "best")
    assert (manifest.types, manifest.decision.answer) == (("Chemical", "Disease"), "softmax")
    assert set(manifest.files) == {
        "model.safetensors",
        "encoder.json",
        "tokenizer.json",
        "taught.bin",
    }


def test_the_path_of_a_folder_that_is_called_like_a_shipped_model(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in shipped_models():
        for called in (name, name.partition("@")[0]):
            shutil.copytree(model, called)
            # and not what ships
            assert find_model(path_to_load(called)).resolve() == tmp_path / called
    assert path_to_load("mine") == "mine"
    assert path_to_load(model) == str(model)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"model": "biomedd"}, "there is no model 'biomedd'; did you mean 'biomed'"),
        ({"threshold": 2}, "threshold must be a number from 0.0 to 1.0"),
        ({"threshold": {"Disease": 3}}, "threshold must be"),
        ({"also": ["gone.tsv"]}, r"gone\.tsv \(there is no such file\) is not a list of names"),
        ({"case": "lower"}, "case must be 'auto', 'exact' or 'any'"),
    ],
)
def test_wrong_arguments_of_load_are_named(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(FascicleError, match=sentence):
        load(**arguments)
