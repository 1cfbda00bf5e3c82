"""Step by an external program: in any language and environment, with one line of JSON for each
batch.

The program first writes a description of itself::

    {"fascicle_step": 1, "name": "shout", "needs": [], "gives": ["mentions"], "drops": [],
    "fingerprint": "shout 1.0"}

Then it reads lines ``{"documents": [...]}`` with documents as `fascicle.core.codec` writes them,
and answers each with ``{"patches": [...]}``, one patch for each document with the fields of
`fascicle.core.document.Patch`, or with ``{"error": "..."}``. It ends when its standard input does.

A plug-in step with settings may be such a program, too.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Final

import msgspec
from msgspec import UNSET

from fascicle import plugins
from fascicle.core import codec
from fascicle.core.contracts import PARTS
from fascicle.core.document import Document, Patch
from fascicle.core.wording import shorten
from fascicle.errors import FascicleError, PluginError, RecipeError
from fascicle.pipeline.workers import limit_memory
from fascicle.settings.recipes.strict import convert_values
from fascicle.settings.steps import PluginStep as PluginSettings

_SCHEMA: Final = 1
_READ: Final = 1 << 16
_KILLED: Final = (128 + 9, 128 + 15)  # exit codes by which a shell reports SIGKILL and SIGTERM
_STARTS: Final = 5  # tries to start a program that is killed during its start
_SAID: Final = 1 << 20  # last bytes of standard error that are kept
# the program may be a Python of its own
_OURS: Final = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")


class _Hello(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    fascicle_step: int
    name: str = ""
    needs: frozenset[str] = frozenset()
    gives: frozenset[str] = frozenset()
    drops: frozenset[str] = frozenset()
    fingerprint: str
    types: tuple[str, ...] = ()


class _Patch(Patch, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Patch of an external program; unknown fields are an error, so that a misspelt one is not
    lost.
    """


class _Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    patches: list[_Patch] | None = None
    error: str = ""


class ProcessError(Exception):
    """Error of the program at a batch."""


class ProcessKilledError(ProcessError):
    """Error of a program that was ended by a signal."""


class ProgramStep:
    """External program as a step. It is started anew after each failure; `close` ends it."""

    apart = True

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        seconds: float,
        longest: int = 64 << 20,
        memory: int | None = None,
        label: str = "",
    ) -> None:
        """Starts the program, and reads the description of the step.

        Args:
            name: of the step; of its own by default.
            command: the program and its arguments.
            seconds: time limit of one batch, and of the start.
            longest: bytes of one line of its answer.
            memory: bytes of its own that it may take, where the system can limit that.
            label: what errors call the command; by default the command itself.

        Raises:
            PluginError: it cannot be started, or its description is invalid.
        """
        self._command, self._seconds, self._longest, self._memory = (
            tuple(command),
            seconds,
            longest,
            memory,
        )
        self._program: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None
        self._rest = b""
        try:
            hello = self._start()
        except (ProcessError, OSError, ValueError) as error:  # the last for a NUL character
            self.close()
            raise PluginError(
                f"the step {name!r} cannot be started with "
                f"{label or repr(shorten(' '.join(command)))}: {error}",
                key=name,
            ) from None
        if unknown := (hello.needs | hello.gives) - set(PARTS):
            self.close()
            raise PluginError(
                f"the step {name!r} needs or gives {sorted(unknown)[0]!r}; parts of a document "
                f"are {', '.join(PARTS)}",
                key=name,
            )
        self.name = name or hello.name
        self.needs, self.gives, self.drops = hello.needs, hello.gives, hello.drops
        self.fingerprint, self.types = hello.fingerprint, hello.types

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document.

        Raises:
            ProcessError: the program reports an error, dies, takes too long, or answers something
                else.
        """
        request = b'{"documents":[' + b",".join(map(codec.encode, documents)) + b"]}\n"
        try:
            if self._program is None:
                self._start()
            if self._speaks():
                raise ProcessError(
                    "it said something before it was asked; it must answer each line with one line"
                )
            answer = _decoded(self._exchange(request), _Answer)
            if self._speaks():
                raise ProcessError(
                    "it answered with more than one line; it must answer each line with one line"
                )
        except BaseException:
            self.close()  # later output would be read as the next answer
            raise
        if answer.patches is None:
            raise ProcessError(answer.error or "the answer has neither patches nor an error")
        return list(answer.patches)

    def close(self) -> None:
        """Ends the program, if it runs."""
        program, self._program, self._rest = self._program, None, b""
        if program is not None:
            program.kill()
            with contextlib.suppress(OSError):
                program.communicate()
        if self._said is not None:
            self._said.close()

    def _start(self) -> _Hello:
        """Starts the program; one that is killed during its start is started again."""
        for _ in range(_STARTS - 1):
            with contextlib.suppress(ProcessKilledError):
                return self._started()
            self.close()
        return self._started()

    def _started(self) -> _Hello:
        self._said = tempfile.TemporaryFile(mode="ab+")  # noqa: SIM115 - as long as the program
        environment = {key: value for key, value in os.environ.items() if key not in _OURS}
        self._program = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=environment,
        )
        if self._memory is not None:
            with contextlib.suppress(ProcessLookupError):  # its end is seen below
                limit_memory(self._memory, self._program.pid)
        assert self._program.stdin is not None
        os.set_blocking(self._program.stdin.fileno(), False)
        hello: _Hello = _decoded(self._exchange(b""), _Hello)
        if hello.fascicle_step != _SCHEMA:
            raise ProcessError(
                f"it speaks version {hello.fascicle_step} of the protocol, and this release "
                f"{_SCHEMA}"
            )
        return hello

    def _speaks(self) -> bool:
        """True if the program has unread output, which would belong to no request."""
        assert self._program is not None
        assert self._program.stdout is not None
        with selectors.DefaultSelector() as ready:
            ready.register(self._program.stdout, selectors.EVENT_READ)
            if not self._rest and ready.select(0):
                # none if the program has ended
                self._rest = os.read(self._program.stdout.fileno(), 1)
        return bool(self._rest)

    def _exchange(self, request: bytes) -> bytes:
        """Writes a request while reading the answer, so that no deadlock is possible."""
        program = self._program
        assert program is not None
        assert program.stdin is not None
        assert program.stdout is not None
        rest, answer = memoryview(request), bytearray(self._rest)
        deadline = time.monotonic() + self._seconds
        with selectors.DefaultSelector() as ready:
            ready.register(program.stdout, selectors.EVENT_READ)
            if rest:
                ready.register(program.stdin, selectors.EVENT_WRITE)
            while (end := answer.find(b"\n")) < 0 or rest:
                if len(answer) > self._longest:
                    raise ProcessError(
                        f"it answered with a line of more than {self._longest:,} bytes"
                    )
                for key in self._ready_streams(ready, deadline):
                    if key.fileobj is program.stdout:
                        answer += self._receive(program.stdout)
                    else:
                        rest = rest[self._write(program.stdin, rest) :]
                        if not rest:
                            ready.unregister(program.stdin)
        self._rest = bytes(answer[end + 1 :])
        self._shorten_errors()
        return bytes(answer[:end])

    def _ready_streams(
        self, ready: selectors.BaseSelector, deadline: float
    ) -> list[selectors.SelectorKey]:
        """Waits for streams that can be read or written."""
        events = ready.select(deadline - time.monotonic())
        if not events and time.monotonic() >= deadline:
            raise ProcessError(f"it gave no answer in {self._seconds:g} seconds")
        return [key for key, _ in events]

    def _shorten_errors(self) -> None:
        if self._said is not None and os.fstat(self._said.fileno()).st_size > _SAID:
            os.ftruncate(self._said.fileno(), 0)

    def _receive(self, stream: IO[bytes]) -> bytes:
        data = os.read(stream.fileno(), _READ)
        if not data:
            raise self._end()
        return data

    def _write(self, stream: IO[bytes], data: memoryview) -> int:
        try:
            return os.write(stream.fileno(), data[:_READ])
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise self._end() from None

    def _end(self) -> ProcessError:
        """Returns an error with the exit status of the program and the end of its standard
        error.
        """
        assert self._program is not None
        try:
            code: Any = self._program.wait(timeout=5)
        except subprocess.TimeoutExpired:
            code = "none yet"
        stderr = ""
        if self._said is not None:
            self._said.seek(0)
            stderr = self._said.read().decode(errors="replace").strip()[-300:]
        kind = (
            ProcessKilledError
            if isinstance(code, int) and (code < 0 or code in _KILLED)
            else ProcessError
        )
        return kind(f"it ended with the exit code {code}{': ' if stderr else ''}{stderr}")


def _decoded(line: bytes, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        start = shorten(line[:200].decode(errors="replace"))
        raise ProcessError(
            f"it answered {start!r}, which is not what the protocol says: {error}"
        ) from None


_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from fascicle.pipeline.process "
    "import serve; sys.exit(serve(sys.argv[2]))"
)


@dataclass(frozen=True, kw_only=True)
class PluggedStep:
    """A plug-in step, and the settings that a pipeline gives it.

    Attributes:
        plugin: name of its entry point.
        name: of the step; empty for its own.
        options: its settings.
        folder: of the pipeline; a class with ``Settings`` is called with settings, name and folder.
    """

    plugin: str
    name: str = ""
    options: Mapping[str, Any]
    folder: str = "."

    def opened(self, settings: PluginSettings) -> Any:
        """Returns the step: in a process of its own if the pipeline, or else the plug-in, says so.

        Args:
            settings: of the pipeline.

        Raises:
            RecipeError: settings that it does not take.
            MissingExtraError: it needs a package that is not installed.
            PluginError: it cannot be loaded.
        """
        step = plugins.load_plugin("steps", self.plugin, make=self._checked)
        if not (getattr(step, "apart", False) if settings.apart is UNSET else settings.apart):
            return step if not isinstance(step, type) else self.made()
        order = msgspec.json.encode(vars(self)).decode()
        command = [sys.executable, "-c", _PROGRAM, json.dumps(sys.path), order]
        memory = settings.memory << 20 if settings.memory is not None else None
        label = f"the plug-in {self.plugin!r}"
        return ProgramStep(
            self.name or self.plugin, command, seconds=settings.seconds, memory=memory, label=label
        )

    def made(self) -> Any:
        """Returns the step in this process; for the errors see `opened`."""
        step = plugins.load_plugin("steps", self.plugin, make=self._checked)
        if not isinstance(step, type):
            return step
        return step(self._settings(step), name=self.name or self.plugin, folder=self.folder)

    def _checked(self, step: Any) -> Any:
        """Returns a class that takes settings as it is, if it takes these, and the object of any
        other entry point.
        """
        if isinstance(step, type) and hasattr(step, "Settings"):
            self._settings(step)
            return step
        if self.options or self.name:
            raise RecipeError(
                f"the step {self.plugin!r} takes no settings and has a name of its own; leave "
                "out options and name",
                key=self.plugin,
            )
        return step() if isinstance(step, type) else step

    def _settings(self, step: Any) -> Any:
        return convert_values(
            self.options, step.Settings, origin=f"options of the step {self.name or self.plugin!r}"
        )


def serve(order: str) -> int:
    """Answers on standard input and output as `ProgramStep` asks; returns the exit code.

    Whatever the step prints goes to standard error.

    Args:
        order: fields of a `PluggedStep` as JSON.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        step = PluggedStep(**json.loads(order)).made()
    except FascicleError as error:
        sys.stderr.write(str(error))
        return 2
    parts = {part: sorted(getattr(step, part)) for part in ("needs", "gives", "drops")}
    hello = {"fascicle_step": _SCHEMA, "name": step.name, "fingerprint": step.fingerprint, **parts}
    _write(answers, msgspec.json.encode(hello | {"types": list(getattr(step, "types", ()))}))
    for line in sys.stdin.buffer:
        _write(answers, _answer(step, line))
    return 0


def _answer(step: Any, line: bytes) -> bytes:
    """Returns the patches for the documents of a request, or the error of the step."""
    documents = [
        codec.decode(bytes(document))
        for document in msgspec.json.decode(line, type=_Request).documents
    ]
    try:
        return msgspec.json.encode({"patches": list(step.run(documents))})
    except Exception as error:
        name = "" if isinstance(error, FascicleError) else f"{type(error).__name__}: "
        return msgspec.json.encode({"error": f"{name}{error}"})


class _Request(msgspec.Struct, frozen=True):
    documents: list[msgspec.Raw]


def _write(stream: Any, line: bytes) -> None:
    stream.write(line + b"\n")
    stream.flush()
