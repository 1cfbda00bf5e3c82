"""Corpora of a few lines, examined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document
from fascicle.evaluation.doctor.checks.contract import CheckSettings
from fascicle.evaluation.doctor.examine import Examination, examine
from fascicle.evaluation.doctor.parts import SPLITS, CheckedPart, GivenPart
from fascicle.formats import ConllOptions, ReadReport, read

Examine = Callable[..., Examination]
PLAIN = CheckSettings(examples=1000)


def part_of(name: str, order: int = 0) -> CheckedPart:
    """``train``, ``dev`` and ``test``; ``against...`` is another corpus; anything else a corpus
    without parts.
    """
    role = name if name in SPLITS else "against" if name.startswith("against") else "corpus"
    return CheckedPart(name=name, role=role, order=order)


def _examined(places: Sequence[GivenPart], settings: dict[str, Any]) -> Examination:
    near = settings.pop("near", None)
    chosen = (
        replace(PLAIN, **settings)
        if near is None
        else replace(PLAIN, near=Fraction(near), **settings)
    )
    own = [given for given in places if given.part.role != "against"]
    return examine(
        own, against=[given for given in places if given.part.role == "against"], settings=chosen
    )


@pytest.fixture
def examine_documents() -> Examine:
    """Examines documents: ``examine_documents({"train": [...], "against": [...]},
    min_words=3)``.
    """

    def run(parts: dict[str, Iterable[Document]], **settings: Any) -> Examination:
        places = [
            GivenPart(part=part_of(name, order), path=name, documents=list(documents).__iter__)
            for order, (name, documents) in enumerate(parts.items())
        ]
        return _examined(places, settings)

    return run


@pytest.fixture
def examine_files(tmp_path: Path) -> Examine:
    """Examines files: ``examine_files({"train": {"a.conll": "a O"}}, columns=ConllOptions(...))``.

    Several files of one part are a folder.
    """

    def run(
        parts: dict[str, dict[str, str]], *, columns: ConllOptions | None = None, **settings: Any
    ) -> Examination:
        return _examined([given(name, files, columns) for name, files in parts.items()], settings)

    def given(name: str, files: dict[str, str], columns: ConllOptions | None) -> GivenPart:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        for file, content in files.items():
            (folder / file).write_text(content, encoding="utf-8", newline="")
        path = folder if len(files) > 1 else folder / next(iter(files))
        report = ReadReport()
        return GivenPart(
            part=part_of(name),
            path=str(path),
            documents=lambda: read(path, options=columns, report=report),
            report=report,
            columns=columns or ConllOptions(),
        )

    return run
