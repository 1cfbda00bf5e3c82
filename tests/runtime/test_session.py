from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fascicle.core.document import Document
from fascicle.core.session import OnnxSession
from fascicle.errors import ModelError
from fascicle.loading import load_single

onnx = pytest.importorskip("onnx")


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """``total = a + b`` over ``[N]``."""
    from onnx import TensorProto, helper

    a, b, total = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N"])
        for name in ("a", "b", "total")
    )
    node = helper.make_node("Add", ["a", "b"], ["total"])
    model = helper.make_model(
        helper.make_graph([node], "sum", [a, b], [total]),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=10,
    )
    path = tmp_path / "sum.onnx"
    onnx.save(model, str(path))
    return path


def test_run_feeds_only_what_the_graph_has(graph: Path) -> None:
    session = OnnxSession.open(graph, threads=1)
    assert (session.inputs, session.outputs) == (("a", "b"), ("total",))
    ones = np.ones(3, np.float32)
    got = session.run({"a": ones, "unknown": ones, "b": ones[::-1]})
    np.testing.assert_array_equal(got["total"], [2, 2, 2])


def test_a_missing_input_is_named(graph: Path) -> None:
    with pytest.raises(ValueError, match="needs b, got a"):
        OnnxSession.open(graph, threads=1).run({"a": np.ones(2, np.float32)})


def test_a_session_can_be_sent_to_another_process(graph: Path) -> None:
    session = pickle.loads(pickle.dumps(OnnxSession.open(graph, threads=1)))
    assert session.threads == 1
    assert session.run({"a": np.ones(1, np.float32), "b": np.ones(1, np.float32)})[
        "total"
    ].tolist() == [2.0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("threads", [1, 2])
def test_a_child_runs_no_session_of_its_parent(graph: Path, threads: int) -> None:
    """A thread of the parent can hold a lock of its session while the process is forked; of 60
    children of a process whose threads used a model, one waited for ever.
    """
    session = OnnxSession.open(graph, threads=threads)
    inputs = {name: np.ones(4, np.float32) for name in session.inputs}
    outputs, parents = session.run(inputs), session._session
    child = os.fork()
    if child == 0:
        same = all((session.run(inputs)[name] == outputs[name]).all() for name in outputs)
        os._exit(7 if same and session._session is not parents else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert session.run(inputs).keys() == outputs.keys()
    assert session._session is parents


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_never_ends_the_session_of_its_parent(graph: Path) -> None:
    """The end of a session waits for what threads of the parent held while it was forked; of 45
    children of a process whose threads used a model, four waited for ever.
    """

    class Parents:
        def __del__(self) -> None:
            os._exit(1)

    session = OnnxSession.open(graph, threads=1)
    inputs = {name: np.ones(4, np.float32) for name in session.inputs}
    child = os.fork()
    if child == 0:
        session._session = Parents()
        session.run(inputs)
        del session
        gc.collect()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


@pytest.mark.parametrize("content", [b"", b"not a graph", None])
def test_a_damaged_file_is_a_model_error(
    graph: Path, tmp_path: Path, content: bytes | None
) -> None:
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(graph.read_bytes()[:-20] if content is None else content)
    with pytest.raises(ModelError, match=r"damaged\.onnx"):
        OnnxSession.open(damaged)


def test_a_missing_file_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no model file"):
        OnnxSession.open(tmp_path / "none.onnx")


def test_threads_are_checked(graph: Path) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        OnnxSession.open(graph, threads=0)


def test_opening_loads_no_torch_and_turns_telemetry_off(graph: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    code = (
        "import os, sys\n"
        "from fascicle.core.session import OnnxSession\n"
        "assert 'onnxruntime' not in sys.modules and 'ORT_DISABLE_TELEMETRY' not in os.environ\n"
        f"OnnxSession.open({str(graph)!r})\n"
        "assert os.environ['ORT_DISABLE_TELEMETRY'] == '1'\n"
        "assert not {'torch', 'transformers', 'onnx'} & set(sys.modules)\n"
    )
    silencers = {
        "ORT_DISABLE_TELEMETRY",
        "ORT_TELEMETRY_DISABLED",
        "CI",
        "GITHUB_ACTIONS",
        "XDG_CACHE_HOME",
    }
    environment = {name: value for name, value in os.environ.items() if name not in silencers}
    environment |= {
        "HOME": str(home),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    # with telemetry on, a device id and a queue of events appear here
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("threads", [1, 2, 64])
def test_batches_are_of_the_size_that_the_session_takes_best(threads: int) -> None:
    sizes: list[tuple[int, int]] = []
    model = load_single("biomed", threads=1)
    scorer = model._scorer

    class Recording:
        batch_tokens = OnnxSession(_Nothing(), path=Path("x"), threads=threads).batch_tokens

        def run(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            sizes.append(inputs["input_ids"].shape)
            return scorer.run(inputs)

    documents = [
        Document(id=str(n), text="Lithium may cause nephrogenic diabetes. " * (1 + n % 40))
        for n in range(60)
    ]
    before = model.predict(documents)
    model._scorer = Recording()
    assert [patch.add for patch in model.predict(documents)] == [patch.add for patch in before]
    most = Recording.batch_tokens
    assert all(rows * pieces <= most or rows == 1 for rows, pieces in sizes)
    assert max(rows * pieces for rows, pieces in sizes) > most // 2


class _Nothing:
    """A session without inputs and outputs."""

    def get_inputs(self) -> list[object]:
        return []

    get_outputs = get_inputs
