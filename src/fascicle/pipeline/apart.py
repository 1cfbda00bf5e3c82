"""A plug-in step with settings, in this process or in one of its own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec import UNSET

from fascicle import plugins
from fascicle.core import codec
from fascicle.errors import FascicleError, RecipeError
from fascicle.pipeline.process import SCHEMA, ProcessStep
from fascicle.settings.recipes.strict import converted
from fascicle.settings.steps import PluginStep

_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from fascicle.pipeline.apart import serve; "
    "sys.exit(serve(sys.argv[2]))"
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

    def opened(self, settings: PluginStep) -> Any:
        """Returns the step: in a process of its own if the pipeline, or else the plug-in, says so.

        Args:
            settings: of the pipeline.

        Raises:
            RecipeError: settings that it does not take.
            MissingExtraError: it needs a package that is not installed.
            PluginError: it cannot be loaded.
        """
        found = plugins.load("steps", self.plugin, make=self._checked)
        if not (getattr(found, "apart", False) if settings.apart is UNSET else settings.apart):
            return found if not isinstance(found, type) else self.made()
        order = msgspec.json.encode(vars(self)).decode()
        command = [sys.executable, "-c", _PROGRAM, json.dumps(sys.path), order]
        memory = settings.memory << 20 if settings.memory is not None else None
        shown = f"the plug-in {self.plugin!r}"
        return ProcessStep(self.name or self.plugin, command, seconds=settings.seconds, memory=memory, shown=shown)

    def made(self) -> Any:
        """Returns the step in this process; for the errors see `opened`."""
        found = plugins.load("steps", self.plugin, make=self._checked)
        if not isinstance(found, type):
            return found
        return found(self._settings(found), name=self.name or self.plugin, folder=self.folder)

    def _checked(self, found: Any) -> Any:
        """Returns a class that takes settings as it is, if it takes these, and the object of any other entry point."""
        if isinstance(found, type) and hasattr(found, "Settings"):
            self._settings(found)
            return found
        if self.options or self.name:
            raise RecipeError(
                f"the step {self.plugin!r} takes no settings and has a name of its own; leave out options and name",
                key=self.plugin,
            )
        return found() if isinstance(found, type) else found

    def _settings(self, found: Any) -> Any:
        return converted(self.options, found.Settings, origin=f"options of the step {self.name or self.plugin!r}")


def serve(order: str) -> int:
    """Answers on standard input and output as `fascicle.pipeline.process` asks; returns the exit code.

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
    hello = {"fascicle_step": SCHEMA, "name": step.name, "fingerprint": step.fingerprint, **parts}
    _write(answers, msgspec.json.encode(hello | {"types": list(getattr(step, "types", ()))}))
    for line in sys.stdin.buffer:
        _write(answers, _answer(step, line))
    return 0


def _answer(step: Any, line: bytes) -> bytes:
    """Returns the patches for the documents of a request, or the error of the step."""
    documents = [codec.decode(bytes(one)) for one in msgspec.json.decode(line, type=_Request).documents]
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
