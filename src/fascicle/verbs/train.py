"""Command ``fascicle train``: trains a model from a recipe to a run folder, and says what to do
with it next.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from fascicle.core.progress import NOW_AND_THEN
from fascicle.core.wording import plural
from fascicle.errors import RecipeError
from fascicle.evaluation.reports.table import align_columns, table
from fascicle.runtime.places import path_to_load
from fascicle.settings.recipes.any import AnyRecipe, parse_changes, read_recipe, recipe_kind
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.settings.recipes.strict import merge_tables, read_toml
from fascicle.verbs.console import explain_missing_extra, log
from fascicle.verbs.messages import emit, say
from fascicle.verbs.options import THREADS, fills, natural, option, reads

if TYPE_CHECKING:
    from fascicle.evaluation.scoring.typing import TypingScores
    from fascicle.training.engine.events import Ended, Finished, HeadScores, RunEvent, Validated
    from fascicle.training.filter.judging import FilterFinished
    from fascicle.training.raw.masking import PretrainingFinished
    from fascicle.training.relations.run import RelationsFinished
    from fascicle.training.typer.run import TyperFinished
    from fascicle.training.typer.scores import TyperScores


class Options:
    """Options of ``fascicle train``.

    In Python: ``fascicle.train("recipe.toml", "runs/mine")``

    Attributes:
        recipe: the recipe.
        output: the run folder; default: runs/NAME-sSEED.
        seed: a seed that replaces the seed of the recipe.
        set: a setting that replaces that of the recipe, e.g. training.batch_size=8; values are
            TOML, and paths start at the current folder; the run folder contains the changed recipe;
            may be repeated.
        resume: resume from the last checkpoint; if there is nothing to resume, start from the
            beginning.
        tracker: send the scores to an experiment tracker of accelerate, such as tensorboard or
            mlflow, whose package is installed; may be repeated.
        json: print the scores as JSON.
    """

    recipe: str = option("RECIPE.toml", reads)
    output: str | None = option("-o --output OUTPUT", fills)
    seed: int | None = option("--seed N", natural)
    set: list[str] = option("--set KEY=VALUE ...")
    resume: bool = option("--resume")
    threads: int | None = THREADS
    tracker: list[str] = option("--tracker NAME ...")
    json: bool = option("--json")


def run(args: Options) -> int:
    """Trains the model of a recipe; returns the exit code."""
    recipe = read_recipe(args.recipe, changes=args.set)
    if args.seed is not None:
        recipe = msgspec.structs.replace(recipe, seed=args.seed)
    folder = Path(args.output) if args.output else None
    ended = _trained(
        recipe, folder, resume=args.resume, threads=args.threads, trackers=args.tracker
    )
    scores, notes = _end_text(ended, recipe)
    emit(
        {"folder": str(ended.folder), **ended.as_dict()},
        scores,
        as_json=args.json,
        ensure_ascii=True,
    )
    for line in notes:
        say(line)
    return 0


def run_kind(args: Options, *, kind: str, table: str, aim: str) -> int:
    """Trains for a command that accepts one kind of recipe; returns the exit code.

    Args:
        args: of the command.
        kind: of its recipes, see ``settings.recipes.any.recipe_kind``.
        table: required table of such a recipe.
        aim: purpose of the table, after "nothing to".

    Raises:
        RecipeError: the recipe is of another kind.
    """
    values = merge_tables(read_toml(Path(args.recipe)), parse_changes(args.set))
    actual_kind = recipe_kind(values)
    if actual_kind != kind and table in values:
        right = {"distil": "distill", "pretraining": "pretrain"}.get(actual_kind, "train")
        raise RecipeError(
            f"the recipe has a table [{table}], but is one of another training ({actual_kind}); "
            f"use fascicle {right}",
            at=args.recipe,
        )
    if actual_kind != kind:
        raise RecipeError(
            f"the recipe has no table [{table}], so there is nothing to {aim}; add one, or use "
            "fascicle train",
            at=args.recipe,
        )
    return run(args)


def _trained(
    recipe: AnyRecipe,
    folder: Path | None,
    *,
    resume: bool,
    threads: int | None,
    trackers: Sequence[str],
) -> Ended:
    with explain_missing_extra("train"):
        from tqdm import tqdm

        from fascicle.training.run import train_recipe
    terminal = sys.stderr.isatty()
    with tqdm(
        unit="step", file=sys.stderr, disable=not terminal, leave=False, dynamic_ncols=True
    ) as bar:
        return train_recipe(
            recipe,
            folder,
            resume=resume,
            threads=threads,
            trackers=trackers,
            listen=Watch(bar),
        )


class Watch:
    """Shows the progress of training: a bar on a terminal, a line now and then in a log, and a
    line at each score.
    """

    def __init__(self, bar: Any, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Starts the clock.

        Args:
            bar: of tqdm; one that is disabled shows nothing, and then lines are written.
            clock: returns the time in seconds.
        """
        self._bar, self._clock, self._said = bar, clock, clock()

    def __call__(self, event: RunEvent) -> None:
        """Moves the progress bar, or writes a line above it."""
        from fascicle.training.engine.events import Note, Validated
        from fascicle.training.engine.loop import StepDone

        if isinstance(event, StepDone):
            self._bar.total = event.steps or self._bar.total
            self._bar.update(event.step - self._bar.n)
            if self._bar.disable and self._clock() - self._said >= NOW_AND_THEN:
                self._log(f"{event.place}: loss {event.loss:.4f}")
        elif isinstance(event, Validated):
            self._bar.total = event.steps
            self._log(_line(event))
        elif isinstance(event, Note):
            log(self._bar, event.text)

    def _log(self, line: str) -> None:
        self._said = self._clock()
        log(self._bar, line)


def _line(event: Validated) -> str:
    best = ", best so far" if event.best else ""
    place = "" if event.at_end_of_epoch else f", step {event.step}"
    facts = f"loss {event.loss:.4f}, {event.figures}, {event.seconds:.0f} s{best}"
    return f"epoch {event.epoch}/{event.epochs}{place}: {facts}"


_SHOWN: Final = 12  # types in a confusion matrix
_WARNING: Final = (
    "Typing accuracy: the places of all mentions were given. This is not recognition, and no "
    "figure of it may stand beside an F1 of one."
)


def typing_text(scores: TyperScores) -> str:
    """Formats typing accuracy with its baselines, types, the confusion matrix, and scores of
    found mentions, if any.
    """
    typing, published = scores.typing, scores.published
    lines = [
        f"typing accuracy         {100 * typing.accuracy:6.2f} %  of {typing.mentions:,} given "
        "mentions"
    ]
    lines.append(
        f"lookup of the string    {100 * scores.lookup.accuracy:6.2f} %  baseline without a model"
    )
    lines.append(
        f"most frequent type      {100 * scores.majority.accuracy:6.2f} %  baseline without a model"
    )
    if typing.discontinuous:
        lines.append(
            f"discontinuous           {typing.discontinuous_right:,} of {typing.discontinuous:,} "
            "right in all fragments"
        )
    if published is not None:
        sums = (
            "2PR/(P+R), P and R of different mentions"
            if typing.discontinuous
            else "2P/(1+P) of the accuracy"
        )
        lines.append(
            f"published protocol      {100 * published.f1:6.2f}    {sums}, which is no F1 of NER"
        )
    unknown = 100 * scores.words_without_vector / max(scores.words, 1)
    lines.append(
        f"words without a vector  {unknown:6.2f} %  of {plural(scores.words, 'word')} in these "
        "mentions"
    )
    lines += ["", _WARNING, "", *_confusion_lines(typing)]
    if scores.recognition is not None:
        lines += [
            "",
            "mentions found by trying all spans, strictly scored",
            table(scores.recognition).rstrip("\n"),
        ]
    return "\n".join(lines) + "\n"


def _confusion_lines(typing: TypingScores) -> list[str]:
    """Returns the confusion matrix: gold types as rows, predicted types as columns; the less
    frequent types as one.
    """
    names = list(typing.types)
    first, rest = names[:_SHOWN], names[_SHOWN:]
    groups = [[name] for name in first] + ([rest] if rest else [])
    titles = [*first, *([f"{len(rest)} others"] if rest else [])]
    table_ = [["gold \\ said", *titles, "right"]]
    for title, golds in zip(titles, groups, strict=True):
        row = [
            sum(typing.confusion.get((g, s), 0) for g in golds for s in predicted)
            for predicted in groups
        ]
        right = sum(typing.confusion.get((g, g), 0) for g in golds)
        total = sum(row)
        table_.append(
            [title, *(f"{n:,}" for n in row), f"{100 * right / total:.1f} %" if total else "-"]
        )
    return align_columns(table_)


_NAMES = {"kept": "kept", "half": "kept from 0.5 on", "union": "union"}


def _end_text(ended: Ended, recipe: AnyRecipe) -> tuple[str, list[str]]:
    """Returns the text for the end of a training.

    Args:
        ended: end of the run.
        recipe: of the run.

    Returns:
        The scores for standard output, and sentences for standard error.
    """
    from fascicle.training.distil.run import LayersFinished
    from fascicle.training.engine.events import Finished
    from fascicle.training.filter.judging import FilterFinished
    from fascicle.training.raw.masking import PretrainingFinished
    from fascicle.training.relations.run import RelationsFinished
    from fascicle.training.typer.run import TyperFinished

    folder = ended.folder
    match ended:
        case Finished():
            weak = isinstance(recipe, Recipe) and bool(recipe.distant)
            return _recogniser(ended, weak=weak), list(_advice(ended))
        case FilterFinished():
            use = f"fascicle combine meta PRED... --filter {folder} --texts FILE -o OUT uses it"
            return "\n".join(_filter(ended)) + "\n", [f"the filter is {folder}; {use}"]
        case LayersFinished():
            losses = ", ".join(f"{name} {value:.4f}" for name, value in ended.held_out.items())
            use = "model.encoder, teacher.encoder and student.encoder of a recipe may name it"
            scores = f"losses on held-out text (epoch {ended.epoch}): {losses}\n"
            return scores, [f"the encoder is {ended.encoder}; {use}"]
        case TyperFinished():
            model = folder / "model"
            return _typer(ended), [f"the model is {model}; fascicle typer predict {model} uses it"]
        case RelationsFinished():
            use = f"fascicle annotate --relations {folder} uses it"
            return _relations(ended), [f"the finder of relations is {folder / 'best'}; {use}"]
        case PretrainingFinished():
            return _pretraining(ended), [
                f"the encoder is {folder / 'encoder'}; model.encoder names it"
            ]
        case _:
            raise AssertionError(ended)


def _relations(finished: RelationsFinished) -> str:
    titles = {"dev": f"dev (epoch {finished.epoch})", "test": "test"}
    return "\n".join(
        f"{titles[part]}\n{table(strict)}" for part, (strict, _) in finished.scores.items()
    )


def _recogniser(finished: Finished, *, weak: bool) -> str:
    against = " against the labels of the dictionary" if weak else ""
    parts = list(_tables(finished.answer, "", against))
    for other in finished.other_heads:
        parts += _tables(other, f" by {other.head}", against)
    return "\n".join(parts)


def _tables(scores: HeadScores, who: str, against: str) -> Iterator[str]:
    yield f"dev{who}{against} (epoch {scores.epoch})\n{table(scores.dev)}"
    if scores.test is not None:
        yield f"test{who}\n{table(scores.test)}"


def _advice(finished: Finished) -> Iterator[str]:
    for scores in (finished.answer, *finished.other_heads):
        yield from filter(None, (_fitted(scores), _rules(scores)))
    folder = finished.folder
    yield (
        f"the model is {folder / 'best'}; fascicle annotate --model {path_to_load(folder)} uses it"
    )
    for other in finished.other_heads:
        yield f"the same for the head {other.head} is {folder / f'best-{other.head}'}"


def _fitted(scores: HeadScores) -> str:
    """Returns a sentence on the values fitted on dev; empty if nothing was fitted."""
    if "nothing" not in scores.tuned:
        return ""
    if own := scores.tuned.get("nothing_by_type"):
        values = ", ".join(f"{name} {value:g}" for name, value in own.items())
        return f"decision.nothing_by_type for the head {scores.head}, fitted on dev: {values}"
    best, tried = (
        scores.tuned["nothing"],
        [float(value) for value in scores.tuned["dev_f1_by_nothing"]],
    )
    most = "largest" if best == max(tried) else "smallest"
    edge = (
        f"; it is the {most} value tried, and a better one may lie beyond"
        if best in (min(tried), max(tried))
        else ""
    )
    return f"decision.nothing = {best:g} for the head {scores.head}, fitted on dev{edge}"


def _rules(scores: HeadScores) -> str:
    """Returns the rules for abbreviations that were chosen on dev; empty if they were not
    requested.
    """
    rules = scores.tuned.get("abbreviations")
    if rules is None:
        return ""
    gain = 100 * (rules["dev_f1"] - rules["dev_f1_without"])
    return (
        f"decision.abbreviations for the head {scores.head}, chosen on dev: spread = "
        f"{rules['spread']}, drop = {rules['drop']}, one_type = {rules['one_type']}; {gain:+.2f} "
        f"dev F1, from {plural(rules['definitions'], 'definition')} of short forms"
    )


def _filter(finished: FilterFinished) -> Iterator[str]:
    judged = finished.held_out
    yield (
        f"held out (epoch {finished.epoch}): accuracy {100 * judged.accuracy:.2f}, F1 "
        f"{100 * judged.f1:.2f}, rejected {judged.tn:,} of {judged.tn + judged.fp:,} incorrect and "
        f"{judged.fn:,} of {judged.fn + judged.tp:,} correct"
    )
    threshold = finished.threshold
    if not threshold.documents:
        yield f"kept is what has a probability of at least {threshold.value:g}; nothing was chosen"
        return
    yield (
        f"kept is what has a probability of at least {threshold.value:g}, chosen for "
        f"{threshold.aim} on {plural(threshold.documents, 'document')} of dev; there:"
    )
    for name, row in finished.scores.items():
        rates = " ".join(
            f"{short} {100 * row[key]:.2f}"
            for short, key in (("P", "precision"), ("R", "recall"), ("F1", "f1"))
        )
        yield f"  {_NAMES.get(name, name)}: {rates}"


def _pretraining(finished: PretrainingFinished) -> str:
    held_out = finished.held_out
    scored = (
        ""
        if held_out is None
        else f"held-out pseudo-perplexity {held_out['perplexity']:.2f} ({held_out['pieces']:,} "
        "pieces)\n"
    )
    return f"{scored}{finished.pieces:,} pieces read in {finished.cost:,.0f} s\n"


def _typer(finished: TyperFinished) -> str:
    return "\n".join(f"{part}\n{typing_text(scores)}" for part, scores in finished.parts.items())
