"""Sessions of ONNX Runtime, and batches for networks.

A session runs one ONNX graph on few cores, in bounded memory, and without telemetry. Batches hold
windows of similar length, and are bounded in the two quantities that cost memory and time; several
run at once if the network allows it.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Ints
from fascicle.core.machine import usable_cores
from fascicle.errors import ModelError, UsageError

# For a network without a preferred batch size, such as one of torch, where each call has a fixed
# cost.
_MAX_TOKENS = 1024
# For each thread of ONNX Runtime. A piece costs the same in batches of 256 as of 1,024 (a 6-layer,
# 384-wide encoder in int8), and small batches have less padding: 2 % in place of 7 % on sentences.
TOKENS_A_THREAD = 256
# One float32 attention table of 12 heads over this area is 24 MB.
_MAX_AREA = 512 * 1024
# A GPU has room for many more, and each call of it costs as much as some thousand pieces.
_GPU_TOKENS = 16 * 1024
_GPU_AREA = 16 * _MAX_AREA


def length_sorted_batches(
    lengths: Sequence[int] | NDArray[np.integer],
    *,
    max_tokens: int = _MAX_TOKENS,
    max_area: int = _MAX_AREA,
) -> Iterator[NDArray[np.intp]]:
    """Groups items of similar length, so that padding is rare and every batch is bounded.

    Items are taken from the shortest to the longest, ties in their given order, so the batches
    depend on nothing but the arguments. A batch of ``n`` items whose longest has ``t`` pieces keeps
    ``n * t <= max_tokens`` (what the dense layers cost) and ``n * t * t <= max_area`` (what
    attention costs). An item that exceeds a bound on its own is a batch of one: nothing is dropped.

    Args:
        lengths: Number of pieces of each item, specials included. Shape: ``[N]``.
        max_tokens: Upper bound of the padded pieces in a batch.
        max_area: Upper bound of the padded piece pairs in a batch.

    Yields:
        Positions in ``lengths``, each exactly once over all batches, by rising length.

    Raises:
        ValueError: A length is negative, ``lengths`` is not one-dimensional, or a bound is below 1.
    """
    sizes = np.asarray(lengths, dtype=np.int64)
    _check(sizes, max_tokens, max_area)
    order = np.argsort(sizes, kind="stable")
    start = 0
    for stop in range(1, len(order) + 1):
        if stop == len(order) or not _fits(
            stop + 1 - start, int(sizes[order[stop]]), max_tokens, max_area
        ):
            yield order[start:stop]
            start = stop


def _fits(count: int, longest: int, max_tokens: int, max_area: int) -> bool:
    return count * longest <= max_tokens and count * longest * longest <= max_area


def _check(sizes: Ints, max_tokens: int, max_area: int) -> None:
    if sizes.ndim != 1:
        raise ValueError(f"lengths must be one-dimensional, got {sizes.ndim} dimensions")
    if sizes.size and sizes.min() < 0:
        raise ValueError(f"lengths must not be negative, got {sizes.min()}")
    if max_tokens < 1 or max_area < 1:
        raise ValueError(
            f"max_tokens and max_area must be at least 1, got {max_tokens} and {max_area}"
        )


_CPU: Final = "cpu"
_ON_CPU: Final = "CPUExecutionProvider"
_ON_GPU: Final = "CUDAExecutionProvider"

# The fused "add, then layer norm" runs in scalar loops; the two operators apart are vectorised.
# Measured on sentences of BC5CDR with MiniLM in int8: about a seventh more throughput.
_SLOWER = ["SkipLayerNormFusion"]


def load_onnxruntime() -> Any:
    """Imports ONNX Runtime without its telemetry.

    Official builds from 1.29 on send usage events from every platform unless this variable is set
    before the import, which fixes the choice for the life of the process. Every import of ONNX
    Runtime in this package uses this function.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # other code may have imported it first
    return onnxruntime


class OnnxSession:
    """Session of one ONNX graph; safe to share between threads; pickled by its path.

    Attributes:
        path: path of the graph.
        threads: threads that one run may use.
        device: where it computes: ``"cpu"``, or ``"cuda"`` with the number of a GPU.
        batch_tokens: preferred number of padded pieces in a batch.
        batch_area: largest number of padded pairs of pieces.
        inputs: names of the inputs, in the order of the graph.
        outputs: names of the outputs, in the order of the graph.
    """

    def __init__(self, session: Any, *, path: Path, threads: int, device: str = _CPU) -> None:
        """Wraps an open session; use :meth:`open`.

        Args:
            session: An ``onnxruntime.InferenceSession``.
            path: Path of its graph.
            threads: Number of its threads.
            device: Where it computes.
        """
        self._session = session
        self._lock, self._process = Lock(), os.getpid()
        self._file = _identity(path)
        self._alone = threads == 1  # true if a run stays on the thread of its caller
        self.path = path
        self.threads = threads
        self.device = device
        self.batch_tokens = (
            min(_MAX_TOKENS, threads * TOKENS_A_THREAD) if device == _CPU else _GPU_TOKENS
        )
        self.batch_area = _MAX_AREA if device == _CPU else _GPU_AREA
        self.inputs: tuple[str, ...] = tuple(item.name for item in session.get_inputs())
        self.outputs: tuple[str, ...] = tuple(item.name for item in session.get_outputs())

    @classmethod
    def open(
        cls, path: str | Path, *, threads: int | None = None, device: str | None = None
    ) -> OnnxSession:
        """Opens a graph.

        Args:
            path: An ONNX file.
            threads: Threads that one run may use; without it, as many as this process may use
                cores.
            device: ``"cpu"``, or ``"cuda"`` or ``"cuda:1"`` with the package ``onnxruntime-gpu``.
                By default, and for ``"auto"``, the processor: most graphs have 8-bit weights, which
                it multiplies best.

        Raises:
            ModelError: The file is missing, damaged, or needs something that this ONNX Runtime
                lacks.
            UsageError: The device cannot be used.
            ValueError: ``threads`` is below 1.
        """
        count = usable_cores() if threads is None else threads
        if count < 1:
            raise ValueError(f"threads must be at least 1, got {count}")
        path = Path(path)
        if not path.is_file():
            raise ModelError(
                f"There is no model file at {path}: check the path, or export the model again."
            )
        if device in (None, "auto", _CPU):
            return cls(_opened(path, count), path=path, threads=count)
        return cls(_opened(path, 1, device=device), path=path, threads=1, device=device)

    def run_side_by_side(self) -> bool:
        """Makes every later run stay on the thread of its caller, so that several can run at once.

        The graph is opened again and replaces the session that shares its threads: both would take
        twice the memory.

        Returns:
            True on success; false if the file is no longer the one that was opened.
        """
        self._leave_parent()
        with self._lock:
            self._open_alone()
            return self._alone

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Computes every output of the graph.

        Args:
            inputs: Arrays by name. Names that the graph does not have are left out.

        Returns:
            The outputs by name, in the order of the graph.

        Raises:
            ValueError: An input of the graph is missing.
        """
        missing = [name for name in self.inputs if name not in inputs]
        if missing:
            raise ValueError(
                f"{self.path.name} needs {', '.join(missing)}, got {', '.join(inputs) or 'nothing'}"
            )
        self._leave_parent()
        feed = {name: np.ascontiguousarray(inputs[name]) for name in self.inputs}
        return dict(zip(self.outputs, self._session.run(None, feed), strict=True))

    def _leave_parent(self) -> None:
        """In a forked child, replaces what needs threads of its parent: locks that one held, in
        the session too, and a pool of them.
        """
        if self._process == os.getpid():
            return
        # No end of the session of the parent: it waits for what threads of the parent held.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._session))
        self._lock, self._process, self._alone = Lock(), os.getpid(), False
        self._open_alone()

    def _open_alone(self) -> None:
        """Opens the graph without a pool of threads, unless it has none or the file is no longer
        the same.
        """
        if not self._alone and _identity(self.path) == self._file:
            self._session, self._alone = _opened(self.path, 1), True

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.path, self.threads, self.device)

    def __repr__(self) -> str:
        return f"OnnxSession({str(self.path)!r}, threads={self.threads})"


def _opened(path: Path, threads: int, *, device: str = _CPU) -> Any:
    runtime = load_onnxruntime()
    providers = (
        [_ON_CPU]
        if device == _CPU
        else [(_ON_GPU, {"device_id": _gpu(runtime, path, device)}), _ON_CPU]
    )
    options, disabled = session_options(runtime, threads=threads)
    try:
        # Without its own fallback, which prints, and then computes elsewhere than it was told to.
        session = runtime.InferenceSession(
            str(path), options, providers=providers, disabled_optimizers=disabled, enable_fallback=0
        )
    except Exception as error:  # its errors share no base class below Exception
        reason = str(error).strip().split("\n", 1)[0]
        if device != _CPU:
            raise _unusable(path, device, reason) from error
        raise ModelError(
            f"{path} is not a usable ONNX model ({reason}): export it again.", file=str(path)
        ) from error
    if device != _CPU and _ON_GPU not in session.get_providers():
        raise _unusable(
            path,
            device,
            "ONNX Runtime finds no GPU, or no CUDA and cuDNN of the versions that it needs",
        )
    return session


def check_device(device: str | None, *, of: str | Path) -> None:
    """Refuses a device on which no export computes here, before any is opened.

    Raises:
        UsageError: no export computes on the device here.
    """
    if device not in (None, "auto", _CPU):
        _gpu(load_onnxruntime(), of, device)


def _gpu(runtime: Any, path: str | Path, device: str) -> str:
    """Returns the number of the GPU that a device names."""
    kind, _, number = device.partition(":")
    if kind != "cuda" or not (number.isdecimal() or device == kind):
        raise UsageError(
            f"{path} is an export, and takes the device cpu or cuda; {device!r} was given"
        )
    if _ON_GPU not in runtime.get_available_providers():
        raise UsageError(
            f"{path} is an export, and takes the device {device!r} only with the package "
            "onnxruntime-gpu; install it in place of onnxruntime, or leave out the device"
        )
    if hasattr(runtime, "preload_dlls"):  # of the packages of NVIDIA, or of torch
        with redirect_stdout(StringIO()):  # where it says which libraries it does not find
            runtime.preload_dlls()
    return number or "0"


def _unusable(path: Path, device: str, reason: str) -> UsageError:
    return UsageError(
        f"{path} cannot be opened on the device {device!r} ({reason}); correct that, or leave it "
        "out"
    )


def _identity(path: Path) -> tuple[int, ...]:
    """Returns values that change if another file replaces this one; empty if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _reopen(path: Path, threads: int, device: str) -> OnnxSession:
    return OnnxSession.open(path, threads=threads, device=device)


def session_options(runtime: Any, *, threads: int) -> tuple[Any, list[str]]:
    """Returns the options with which ONNX Runtime opens graphs.

    Args:
        runtime: the module that ``load_onnxruntime`` returns.
        threads: threads that one run may use.

    Returns:
        Options of a session, and the names of the optimizers to disable.
    """
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only: warnings would go to stderr past every logger
    # One pattern per pair of batch and length would be kept: with sorted batches that is thousands,
    # never reused.
    options.enable_mem_pattern = False
    return options, list(_SLOWER)


_ROUNDS = 2  # least number of batches for each thread, so that none waits long for the last batch
_T = TypeVar("_T")


def score_batches(
    scorer: Any, lengths: Sequence[int], *, score: Callable[[NDArray[np.intp]], _T]
) -> Iterator[tuple[NDArray[np.intp], _T]]:
    """Scores items in batches.

    A session of ONNX Runtime with several threads runs as many batches at once, each on one thread,
    if there are enough batches: threads that share the operators of one batch wait for each other.
    Otherwise it runs batch after batch, each on all threads, as any other network does.

    Args:
        scorer: the network.
        lengths: number of pieces of each item.
        score: function that scores the items at the given indices by the network; called from
            several threads.

    Yields:
        Indices of items, by rising length, and the result of ``score`` for them.
    """
    if isinstance(scorer, OnnxSession) and scorer.threads > 1:
        small = list(length_sorted_batches(lengths, max_tokens=TOKENS_A_THREAD))
        if len(small) >= _ROUNDS * scorer.threads and scorer.run_side_by_side():
            # Imported late: few commands need it, and it would slow down all.
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(scorer.threads) as pool:
                yield from zip(small, pool.map(score, small), strict=True)
            return
    tokens, area = (
        getattr(scorer, "batch_tokens", _MAX_TOKENS),
        getattr(scorer, "batch_area", _MAX_AREA),
    )
    for batch in length_sorted_batches(lengths, max_tokens=tokens, max_area=area):
        yield batch, score(batch)
