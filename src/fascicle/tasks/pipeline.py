"""What a ``pipeline.toml`` says, and whether it works: what ``fascicle pipeline`` does."""

from __future__ import annotations

import os
from dataclasses import dataclass

from fascicle.settings.pipeline import as_toml, read_pipeline


@dataclass(frozen=True, kw_only=True)
class CheckedPipeline:
    """A pipeline that was opened and tried.

    Attributes:
        name: of it.
        steps: name, what it needs and what it gives of each step, in order.
        answers: texts with known mentions that were tried.
        rules: rules that were tried by their own tests.
        fingerprints: what decides the mentions, by name.
    """

    name: str
    steps: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
    answers: int
    rules: int
    fingerprints: dict[str, str]


def show(path: str | os.PathLike[str]) -> str:
    """A pipeline as a TOML file with every default.

    Raises:
        RecipeError: see `fascicle.settings.pipeline.read_pipeline`.
    """
    return as_toml(read_pipeline(path))


def check(path: str | os.PathLike[str]) -> CheckedPipeline:
    """Opens a pipeline, which tries its rules and its known answers.

    Raises:
        FascicleError: see `fascicle.pipeline.loading.open_pipeline`.
    """
    from fascicle.pipeline.loading import opened

    settings = read_pipeline(path)
    with opened(settings) as pipeline:
        return CheckedPipeline(
            name=pipeline.name,
            steps=tuple((step.name, tuple(sorted(step.needs)), tuple(sorted(step.gives))) for step in pipeline.steps),
            answers=len(settings.answers),
            rules=sum(len(getattr(step, "rules", ())) for _, step in settings.steps),
            fingerprints=pipeline.made_by(),
        )
