"""What a run has done since it was scored last: the line of the next scoring needs it, also after a kill."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from fascicle.training.engine.loop import StepDone

_NAME: Final = "since.json"


@dataclass(kw_only=True)
class Since:
    """Steps and time since the last scoring.

    Attributes:
        events: of the steps.
        before: seconds of earlier sittings.
        started: when this sitting began, by ``time.perf_counter``.
        saved: when the state was written last, by the same clock.
    """

    events: list[StepDone] = field(default_factory=list)
    before: float = 0.0
    started: float = 0.0
    saved: float = 0.0

    @classmethod
    def read(cls, folder: Path) -> Since:
        """What ``write`` wrote; nothing in the folder of an earlier release."""
        path = folder / _NAME
        if not path.exists():
            return cls()
        known = json.loads(path.read_text(encoding="utf-8"))
        return cls(events=[StepDone(step=step, loss=loss) for step, loss in known["losses"]], before=known["seconds"])

    def write(self, folder: Path) -> None:
        """Writes it into an existing folder."""
        losses = [(event.step, event.loss) for event in self.events]
        (folder / _NAME).write_text(json.dumps({"losses": losses, "seconds": self.seconds()}), encoding="utf-8")
        self.saved = time.perf_counter()

    def going_on(self) -> Since:
        """The same with the clock started now."""
        now = time.perf_counter()
        return replace(self, started=now, saved=now)

    def seconds(self) -> float:
        """Since the last scoring, without the time between sittings."""
        return self.before + time.perf_counter() - self.started

    def unsaved_seconds(self) -> float:
        """Since the state was written."""
        return time.perf_counter() - self.saved
