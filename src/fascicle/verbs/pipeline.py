"""Command ``fascicle pipeline``: shows a pipeline with all defaults, or checks that it works."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass

from fascicle.core.arguments import AnyPath
from fascicle.core.wording import plural
from fascicle.settings.pipeline import pipeline_toml, read_pipeline
from fascicle.verbs.messages import emit, say
from fascicle.verbs.options import option, reads


@dataclass(frozen=True, kw_only=True)
class CheckedPipeline:
    """Pipeline that was opened and tried.

    Attributes:
        name: of it.
        steps: name, required layers and produced layers of each step, in order.
        answers: number of tried texts with known mentions.
        rules: number of rules that were tried by their own tests.
        fingerprints: identity of everything that affects the mentions, by name.
    """

    name: str
    steps: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]
    answers: int
    rules: int
    fingerprints: dict[str, str]


def show(path: AnyPath) -> str:
    """Returns a pipeline as a TOML file with every default.

    Raises:
        RecipeError: see `fascicle.settings.pipeline.read_pipeline`.
    """
    return pipeline_toml(read_pipeline(path))


def check(path: AnyPath) -> CheckedPipeline:
    """Opens a pipeline, which tests its rules and its known answers.

    Raises:
        FascicleError: see `fascicle.pipeline.loading.open_pipeline`.
    """
    from fascicle.pipeline.loading import open_settings

    settings = read_pipeline(path)
    with open_settings(settings) as pipeline:
        return CheckedPipeline(
            name=pipeline.name,
            steps=tuple(
                (step.name, tuple(sorted(step.needs)), tuple(sorted(step.gives)))
                for step in pipeline.steps
            ),
            answers=len(settings.answers),
            rules=sum(len(getattr(step, "rules", ())) for _, step in settings.steps),
            fingerprints=pipeline.made_by(),
        )


class ShowPipeline:
    """Print a pipeline with every default.

    In Python: ``fascicle.verbs.pipeline.show("pipeline.toml")``

    Attributes:
        pipeline: a pipeline.toml, or a folder with one.
    """

    pipeline: str = option("PIPELINE", reads)


class CheckPipeline(ShowPipeline):
    """Open a pipeline, and test its rules and its known answers, without reading texts.

    In Python: ``fascicle.verbs.pipeline.check("pipeline.toml")``

    Attributes:
        json: print the steps, and everything that decides their mentions, as JSON.
    """

    json: bool = option("--json")


def _run_show(args: ShowPipeline) -> int:
    """Prints a pipeline; returns the exit code."""
    sys.stdout.write(show(args.pipeline))
    return 0


def _run_check(args: CheckPipeline) -> int:
    """Checks a pipeline; returns the exit code."""
    checked = check(args.pipeline)
    steps = (
        f"{name}\tneeds {', '.join(needs) or 'nothing'}\tgives {', '.join(gives) or 'nothing'}"
        for name, needs, gives in checked.steps
    )
    emit(asdict(checked), steps, as_json=args.json)
    if not args.json:
        say(
            f"{checked.name} works: {plural(len(checked.steps), 'step')}, "
            f"{plural(checked.rules, 'rule')} and {plural(checked.answers, 'known answer')} tried"
        )
    return 0


COMMANDS = {
    "show": (ShowPipeline, _run_show),
    "check": (CheckPipeline, _run_check),
}
