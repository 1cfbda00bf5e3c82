"""Where models compute: what runs in torch and exports use a device, and everything else refuses
it.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from fascicle import annotate
from fascicle.cli import main
from fascicle.core.document import Document, Mention
from fascicle.core.session import OnnxSession, load_onnxruntime
from fascicle.errors import UsageError
from fascicle.formats import write
from fascicle.loading import load
from fascicle.settings.folders.manifest import MANIFEST
from fascicle.verbs.ensemble import ensemble as save_ensemble
from fascicle.verbs.export import export

TEXT = "aspirin caused pain"
SHIPPED = "biomed"


def has_gpu() -> bool:
    """Whether ONNX Runtime computes on a GPU here."""
    runtime = load_onnxruntime()
    return (
        "CUDAExecutionProvider" in runtime.get_available_providers() and torch.cuda.is_available()
    )


def placed(*devices: str) -> list[str]:
    return [one for one in devices if one != "cuda" or torch.cuda.is_available()]


@pytest.fixture
def copy(tiny_run: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Makes copies of a model of torch under other names."""

    def made(name: str) -> Path:
        folder = Path(shutil.copytree(tiny_run / "best", tmp_path / name))
        described = folder / MANIFEST
        described.write_text(
            described.read_text(encoding="utf-8").replace('"tiny"', f'"{name}"'), encoding="utf-8"
        )
        return folder

    return made


def ensemble(tmp_path: Path, *models: object, name: str = "both") -> Path:
    return save_ensemble(
        [str(one) for one in models], tmp_path / name, "union", distinct_types=True
    ).folder


@pytest.mark.parametrize("device", placed("cpu", "auto", "cuda"))
def test_a_model_of_torch_answers_alike_everywhere(tiny_run: Path, device: str) -> None:
    expected, found = (load(tiny_run, device=one)(TEXT).mentions for one in (None, device))
    assert [(one.spans, one.type) for one in found] == [(one.spans, one.type) for one in expected]
    assert found


@pytest.mark.parametrize("device", placed("cpu", "auto", "cuda"))
def test_members_of_an_ensemble_compute_where_they_are_told(
    copy: Callable[[str], Path], tmp_path: Path, device: str
) -> None:
    folder = ensemble(tmp_path, copy("one"), copy("two"))
    outer = ensemble(tmp_path, folder, copy("three"), name="outer")
    assert load(outer, device=device)(TEXT).mentions == load(outer)(TEXT).mentions


def test_the_device_reaches_the_network(
    tiny_run: Path, copy: Callable[[str], Path], tmp_path: Path
) -> None:
    """The device ``meta`` of torch computes shapes alone, so whatever computes there has no
    result to give.
    """
    for model in (tiny_run, ensemble(tmp_path, copy("one"), copy("two"))):
        with pytest.raises((NotImplementedError, RuntimeError), match="meta"):
            load(model, device="meta")(TEXT)


def test_the_device_reaches_the_second_model(tiny_run: Path) -> None:
    assert load(tiny_run, careful="Disease").part
    with pytest.raises(UsageError, match=r"biomed-fast.*'meta'"):
        load(tiny_run, careful="Disease", device="meta")


def test_an_ensemble_with_an_export_refuses_a_device_when_it_is_loaded(
    copy: Callable[[str], Path], tmp_path: Path
) -> None:
    inner = ensemble(tmp_path, copy("one"), SHIPPED)
    for folder in (inner, ensemble(tmp_path, inner, copy("two"), name="outer")):
        assert load(folder, device="auto").name == folder.name
        with pytest.raises(UsageError, match="'meta'"):
            load(folder, device="meta")


def test_dictionaries_and_exports_refuse_a_device(tmp_path: Path) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("Chemical\taspirin\n", encoding="utf-8")
    for model in (names, SHIPPED):
        for device in (None, "cpu", "auto"):
            assert load(model, device=device).types
        for device in ("meta", "none", "", "cuda:", "cuda:x", "CUDA", "cuda:-1"):
            with pytest.raises(UsageError, match=f"{Path(model).name}.*device"):
                load(model, device=device)
    with pytest.raises(UsageError, match="device"):
        load(names, device="cuda")


@pytest.mark.skipif(has_gpu(), reason="ONNX Runtime computes on a GPU here")
def test_an_export_says_what_a_gpu_needs(copy: Callable[[str], Path], tmp_path: Path) -> None:
    mixed = ensemble(tmp_path, copy("one"), SHIPPED)
    for model in (SHIPPED, mixed):
        for device in ("cuda", "cuda:1"):
            with pytest.raises(UsageError, match="onnxruntime-gpu"):
                load(model, device=device)


def gold_of(folder: Path) -> Path:
    """A text with a mention, as a corpus."""
    path = folder / "gold.jsonl"
    mention = Mention(((0, 7),), "Chemical")
    write(path, [Document(id="1", text=TEXT, mentions=(mention,))])
    return path


def test_evaluate_scores_a_model_on_its_device(
    tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scored = ["evaluate", str(gold_of(tmp_path)), "--model", str(tiny_run)]
    answers = []
    for device in ([], ["--device", "auto"]):
        assert main([*scored, *device]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]
    for more in ([], ["--distributions", str(tmp_path / "probed.jsonl")]):
        assert main([*scored, "--device", "meta", *more]) != 0
        assert "meta" in capsys.readouterr().err


def test_evaluate_takes_a_device_for_a_model_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = str(gold_of(tmp_path))
    assert main(["evaluate", gold, gold, "--device", "cpu"]) == 2
    assert "--device is about a model" in capsys.readouterr().err


def test_a_run_computes_on_its_device(
    tiny_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, answers = tmp_path / "a.txt", []
    text.write_text(TEXT, encoding="utf-8")
    for device in ([], ["--device", "auto"]):
        folder = tmp_path / "-".join(["run", *device])
        command = ["run", str(text), "--pipeline", str(tiny_run), "--no-link", "--workers", "1"]
        assert main([*command, *device, "-o", str(folder)]) == 0
        answers.append((folder / "part-00000.jsonl").read_bytes())
    assert answers[0] == answers[1]


def test_a_pipeline_has_devices_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, pipeline = tmp_path / "a.txt", tmp_path / "pipeline.toml"
    text.write_text(TEXT, encoding="utf-8")
    pipeline.write_text('name = "p"\n[[steps]]\nkind = "abbreviations"\n', encoding="utf-8")
    for command in (
        ["run", str(text), "--pipeline", str(pipeline), "-o", str(tmp_path / "run")],
        ["serve", str(pipeline), "--port", "0"],
    ):
        assert main([*command, "--device", "cpu"]) == 2
        assert "--device is for models" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(has_gpu(), reason="ONNX Runtime computes on a GPU here")
def test_commands_say_what_a_gpu_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, pipeline = tmp_path / "a.txt", tmp_path / "pipeline.toml"
    text.write_text(TEXT, encoding="utf-8")
    pipeline.write_text(
        f'name = "p"\n[[steps]]\nkind = "recogniser"\nmodel = "{SHIPPED}"\ndevice = "cuda"\n',
        encoding="utf-8",
    )
    gold, probed = str(gold_of(tmp_path)), str(tmp_path / "probed.jsonl")
    for command in (
        ["annotate", str(text), "--device", "cuda"],
        ["run", str(text), "--pipeline", str(pipeline), "-o", str(tmp_path / "run")],
        ["run", str(text), "--device", "cuda", "-o", str(tmp_path / "run")],
        ["serve", str(pipeline), "--port", "0"],
        ["serve", "biomed-fast", "--device", "cuda", "--port", "0"],
        ["evaluate", gold, "--model", SHIPPED, "--device", "cuda"],
        ["evaluate", gold, "--model", SHIPPED, "--device", "cuda", "--distributions", probed],
    ):
        assert main(command) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "'cuda'" in line
        assert "onnxruntime-gpu" in line
    assert not (tmp_path / "run").exists()
    assert not Path(probed).exists()
    with pytest.raises(UsageError, match="onnxruntime-gpu"):
        annotate(text, tmp_path / "a.jsonl", device="cuda")
    assert main(["annotate", "--text", TEXT, "--device", "auto", "--no-link"]) == 0


@pytest.mark.skipif(has_gpu(), reason="ONNX Runtime computes on a GPU here")
def test_an_export_never_computes_elsewhere_in_silence(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As with onnxruntime-gpu where its libraries are missing: the session opens, and has no
    GPU.
    """
    runtime = load_onnxruntime()
    monkeypatch.setattr(
        runtime,
        "get_available_providers",
        lambda: ["CUDAExecutionProvider", "CPUExecutionProvider"],
    )
    with pytest.raises(UsageError, match="device 'cuda'"):
        load(SHIPPED, device="cuda")
    assert capfd.readouterr().out == ""


@pytest.mark.skipif(not has_gpu(), reason="ONNX Runtime computes on no GPU here")
def test_an_export_answers_alike_on_a_gpu(tiny_run: Path, tmp_path: Path) -> None:
    export(tiny_run, tmp_path / "plain")
    texts = [TEXT, *(f"{TEXT} {number} times" for number in range(40))]
    expected, found = (
        load(tmp_path / "plain", device=one).annotate(texts) for one in ("cpu", "cuda")
    )
    assert [[(m.spans, m.type) for m in one.mentions] for one in found] == [
        [(m.spans, m.type) for m in one.mentions] for one in expected
    ]
    assert any(one.mentions for one in found)
    session = OnnxSession.open(tmp_path / "plain" / "model.onnx", device="cuda")
    assert pickle.loads(pickle.dumps(session)).device == "cuda"


@pytest.mark.parametrize("device", ["none", "cuda:99", "", "x" * 200])
def test_a_device_that_is_not_there(tiny_run: Path, device: str) -> None:
    with pytest.raises(UsageError, match="device"):
        load(tiny_run, device=device)
