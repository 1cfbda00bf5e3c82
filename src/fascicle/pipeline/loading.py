"""Loading of a ``pipeline.toml`` as a pipeline, or of a model as one, in any process; what opens
each kind of step.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from fascicle.errors import UsageError
from fascicle.linking.opening import find
from fascicle.loading import load_filter, load_relations, load_typer, open_model
from fascicle.pipeline import steps
from fascicle.pipeline.pipeline import Pipeline
from fascicle.runtime.combination.rules import RuleRequest
from fascicle.runtime.composing import choose_linker, linked_part
from fascicle.runtime.places import from_anywhere
from fascicle.runtime.wrapped import WrappedPredictor
from fascicle.settings import steps as kinds
from fascicle.settings.assertion import read_cues
from fascicle.settings.choices import LINKED_MODEL, Choices
from fascicle.settings.folders.vocabularies import AUTO
from fascicle.settings.inputs import RecognitionSettings
from fascicle.settings.pipeline import (
    Limits,
    PipelineSettings,
    Shards,
    is_pipeline,
    read_pipeline,
    toml_value,
)
from fascicle.terms.abbreviations.finder import AbbreviationFinder
from fascicle.text.annotator import Annotator
from fascicle.text.segment import segmenter


def open_pipeline(path: str | os.PathLike[str]) -> Pipeline:
    """Opens a pipeline, and checks its rules and its known answers.

    Args:
        path: of a ``pipeline.toml``, or of a folder with one.

    Raises:
        RecipeError: the file is wrong, steps do not fit together, a rule fails its test, or an
            answer is not found.
        FascicleError: a part of it cannot be opened.
    """
    return open_settings(read_pipeline(path))


def open_settings(settings: PipelineSettings) -> Pipeline:
    """Opens the pipeline of settings; see `open_pipeline`."""
    steps: list[Any] = []
    try:
        if [kind for kind, _ in settings.steps] == ["recogniser"]:
            steps.extend(_only_model(settings.steps[0][1]))
        else:
            steps.extend(OPENERS[kind](step, settings) for kind, step in settings.steps)
        pipeline = Pipeline(
            steps,
            name=settings.name,
            segmenter=settings.segmenter,
            keep_cut=settings.keep_cut,
            given=settings.given,
            limits=settings.limits,
        )
        pipeline.check(settings.answers)
    except BaseException:
        for step in steps:
            if hasattr(step, "close"):
                step.close()
        raise
    return pipeline


def _only_model(settings: kinds.RecogniserStep) -> list[Any]:
    return model_steps(
        settings.model,
        settings.choices,
        name=settings.name,
        threads=settings.threads,
        device=settings.device,
    )


def _recogniser(settings: kinds.RecogniserStep, pipeline: PipelineSettings) -> Any:
    predictor = open_model(
        settings.model, settings.choices, threads=settings.threads, device=settings.device
    )
    return recognise(predictor, settings.name)


def model_steps(
    model: str | tuple[str, ...],
    choices: Choices,
    *,
    name: str = "",
    threads: int,
    device: str | None = None,
    finder: bool = False,
) -> list[Any]:
    """Returns a model with its choices as steps, of which one links.

    The mentions are those of `fascicle.loading.open_model`. A step of its own also links what the
    documents bring along, and can be left out.

    Args:
        model: see `fascicle.load`.
        choices: about its mentions.
        name: of the recogniser; that of the model by default.
        threads: of the network.
        device: of the network.
        finder: also note short forms before linking.
    """
    bare = msgspec.structs.replace(choices, link=(), ontology="", relations="")
    predictor = open_model(model, bare, threads=threads, device=device)
    linked = linked_part(predictor)
    opener = choose_linker(linked, choices)
    last = _related(choices, predictor, threads, device)
    if opener is None:
        return [recognise(predictor, name or predictor.name), *last]
    beside = frozenset(predictor.sources).difference(linked.sources)
    before = predictor.before_links() if isinstance(predictor, WrappedPredictor) else predictor
    return [
        recognise(before, name or predictor.name),
        *([steps.Own(AbbreviationFinder(), name="abbreviations")] if finder else []),
        steps.Own(opener.opened(), name="link", beside=beside),
        *_settling(linked),
        *last,
    ]


def _related(
    choices: Choices, predictor: Annotator, threads: int, device: str | None
) -> list[steps.Relate]:
    if not choices.relations:
        return []
    settings = kinds.RelateStep(
        name="relate",
        relations=choices.relations,
        sources=predictor.sources,
        threads=threads,
        device=device or "cpu",
    )
    return [_relate(settings)]


def _settling(predictor: Annotator) -> list[steps.Settle]:
    own = predictor.own if isinstance(predictor, WrappedPredictor) else ()
    if not own:
        return []
    sources = frozenset(predictor.sources)
    mark = steps.fingerprint_of(sorted(sources), own)
    return [steps.Settle(name="own-names", drops=sources, own=own, fingerprint=mark)]


def recognise(predictor: Annotator, name: str) -> steps.Recognise:
    """Returns a predictor as a step."""
    gives = steps.LINKED if "links" in predictor.gives else steps.MENTIONS
    return steps.Recognise(
        name=name, predictor=predictor, gives=gives, fingerprint=predictor.fingerprint
    )


def _dictionary(settings: kinds.DictionaryStep, pipeline: PipelineSettings) -> Any:
    from fascicle.terms.pack.pack import Pack
    from fascicle.terms.recognising import PackRecogniser

    options = {name: getattr(settings, name) for name in RecognitionSettings.__struct_fields__}
    predictor = PackRecogniser(
        {settings.name: Pack.open(settings.pack)}, settings=RecognitionSettings(**options)
    )
    gives = steps.LINKED if settings.links else steps.MENTIONS
    return steps.Recognise(
        name=settings.name, predictor=predictor, gives=gives, fingerprint=predictor.fingerprint
    )


def _abbreviations(settings: kinds.AbbreviationsStep, pipeline: PipelineSettings) -> Any:
    return steps.Own(AbbreviationFinder(), name=settings.name)


def _variants(settings: kinds.VariantsStep, pipeline: PipelineSettings) -> Any:
    from fascicle.terms.variant_recogniser import VariantRecogniser

    predictor = VariantRecogniser(settings.name)
    return steps.Recognise(
        name=settings.name,
        predictor=predictor,
        gives=steps.LINKED,
        fingerprint=predictor.fingerprint,
    )


def _link(settings: kinds.LinkStep, pipeline: PipelineSettings) -> Any:
    linker = find(
        settings.linker, settings.packs, ontology=settings.ontology, strategies=settings.strategies
    )
    return steps.Own(linker.opened(), name=settings.name)


def _coordination(settings: kinds.CoordinationStep, pipeline: PipelineSettings) -> Any:
    from fascicle.linking.coordination import Coordination

    linker, mark = find(settings.linker, settings.packs).opened(), _fingerprint(settings)
    return Coordination(
        settings.name, linker, sources=settings.sources, required=settings.known, fingerprint=mark
    )


def _combine(settings: kinds.CombineStep, pipeline: PipelineSettings) -> Any:
    request = RuleRequest(
        name=settings.rule, k=settings.k, weights=settings.weights or None, threshold=settings.share
    )
    rule = request.rule()
    rule.check(len(settings.sources))
    return steps.Combine(
        name=settings.name, layers=settings.sources, rule=rule, fingerprint=_fingerprint(settings)
    )


def _filter(settings: kinds.FilterStep, pipeline: PipelineSettings) -> Any:
    judge = load_filter(settings.filter, threads=settings.threads, device=settings.device)
    mark = _fingerprint(judge.manifest, settings.sources)
    return steps.Filter(name=settings.name, layers=settings.sources, judge=judge, fingerprint=mark)


def _typer(settings: kinds.TyperStep, pipeline: PipelineSettings) -> Any:
    typer = load_typer(settings.typer, threads=settings.threads, device=settings.device)
    mark = _fingerprint(typer.manifest, settings.sources)
    return steps.Type(name=settings.name, layers=settings.sources, typer=typer, fingerprint=mark)


def _relate(settings: kinds.RelateStep, *_: PipelineSettings) -> steps.Relate:
    finder = load_relations(settings.relations, threads=settings.threads, device=settings.device)
    mark = _fingerprint(finder.manifest, settings.sources)
    return steps.Relate(
        name=settings.name, layers=settings.sources, finder=finder, fingerprint=mark
    )


def _rules(settings: kinds.RulesStep, pipeline: PipelineSettings) -> Any:
    from fascicle.pipeline.rules import Rules

    mark = _fingerprint(settings)
    return Rules(
        settings.name, settings.rules, segmenter=segmenter(pipeline.segmenter), fingerprint=mark
    )


def _choice(settings: kinds.ChoiceStep, pipeline: PipelineSettings) -> Any:
    return steps.Choice(
        name=settings.name,
        layers=settings.sources,
        keep=settings.keep,
        types=settings.types,
        fingerprint=_fingerprint(settings),
    )


def _assertion(settings: kinds.AssertionStep, pipeline: PipelineSettings) -> Any:
    from fascicle.text.assertion import AssertionRules

    cues = read_cues(settings.cues)
    cues = msgspec.structs.replace(cues, types={**cues.types, **settings.types})
    rules = AssertionRules(cues, rules=pipeline.segmenter)
    return steps.Assert(
        name=settings.name,
        drops=frozenset(settings.sources),
        rules=rules,
        fingerprint=rules.fingerprint,
    )


def _changing(settings: kinds.DropStep | kinds.PreferStep, pipeline: PipelineSettings) -> Any:
    """Makes a step that changes mentions of given layers by its settings alone."""
    sources, mark = frozenset(settings.sources), _fingerprint(settings)
    if isinstance(settings, kinds.DropStep):
        return steps.Drop(name=settings.name, drops=sources, settings=settings, fingerprint=mark)
    return steps.Prefer(name=settings.name, drops=sources, settings=settings, fingerprint=mark)


def _plugin(settings: kinds.PluginStep, pipeline: PipelineSettings) -> Any:
    from fascicle.pipeline.process import PluggedStep

    step = PluggedStep(
        plugin=settings.plugin, name=settings.name, options=settings.options, folder=pipeline.folder
    )
    return step.opened(settings)


def _process(settings: kinds.ProcessStep, pipeline: PipelineSettings) -> Any:
    from fascicle.pipeline.process import ProgramStep as Program

    program, *arguments = (part.replace("{folder}", pipeline.folder) for part in settings.command)
    # As all relative paths of a pipeline; a name without a separator is looked for on the search
    # path.
    command = [str(Path(pipeline.folder, program)) if os.sep in program else program, *arguments]
    memory = settings.memory << 20 if settings.memory is not None else None
    return Program(
        settings.name,
        command,
        seconds=settings.seconds,
        longest=settings.longest << 20,
        memory=memory,
    )


def _fingerprint(settings: msgspec.Struct, *sources: tuple[str, ...]) -> str:
    return steps.fingerprint_of(*sources, msgspec.json.encode(settings).decode())


# What opens each kind of step; the settings of each are in `fascicle.settings.steps.STEPS`. A new
# kind of step has a row in both tables.
OPENERS: Final[Mapping[str, Callable[[Any, PipelineSettings], Any]]] = MappingProxyType(
    {
        "recogniser": _recogniser,
        "dictionary": _dictionary,
        "abbreviations": _abbreviations,
        "variants": _variants,
        "link": _link,
        "coordination": _coordination,
        "combine": _combine,
        "filter": _filter,
        "typer": _typer,
        "relate": _relate,
        "rules": _rules,
        "assertion": _assertion,
        "choice": _choice,
        "drop": _changing,
        "prefer": _changing,
        "plugin": _plugin,
        "process": _process,
    }
)


def refuse_choices(pipeline: str, choices: Choices, device: str | None = None) -> None:
    """Refuses choices and a device beside a pipeline, whose step recogniser has its own.

    Raises:
        UsageError: a choice differs from the default, or there is a device.
    """
    changed = {n: value for n, value in choices.changed.items() if value != AUTO}
    if device:
        changed["device"] = device
    if changed:
        name, value = next(iter(changed.items()))
        raise UsageError(
            f"the argument {name} is for models, and {pipeline} is a pipeline; write {name} = "
            f"{toml_value(value)} into its step recogniser, or give a model such as biomed"
        )


@dataclass(frozen=True, kw_only=True)
class PipelineOpener:
    """Opener of a pipeline, callable in any process.

    Attributes:
        given: a pipeline, or what `fascicle.load` takes.
        choices: about the mentions of a model; by default they are linked. A pipeline has its own.
        device: where the network of a model computes, see `fascicle.load`. A pipeline has its own.
    """

    given: str
    choices: Choices = LINKED_MODEL
    device: str | None = None

    def from_anywhere(self) -> PipelineOpener:
        """Returns the same opener, with paths that hold in any folder; see `refuse_choices` too."""
        self.refuse_choices()
        return replace(
            self,
            given=from_anywhere(self.given),
            choices=self.choices.with_places(from_anywhere),
        )

    def refuse_choices(self) -> None:
        """Refuses choices and a device beside a pipeline; see `refuse_choices`."""
        if self.is_pipeline:
            refuse_choices(self.given, self.choices, self.device)

    @property
    def is_pipeline(self) -> bool:
        """True if this is a pipeline, false if it is a model."""
        return is_pipeline(self.given)

    @property
    def limits(self) -> Limits:
        """Limits for a batch and a worker."""
        return read_pipeline(self.given).limits if self.is_pipeline else Limits()

    @property
    def shards(self) -> Shards:
        """Limits for a shard of a run."""
        return read_pipeline(self.given).shards if self.is_pipeline else Shards()

    @property
    def examples(self) -> tuple[str, ...]:
        """Example texts: those of the pipeline with known answers."""
        return (
            tuple(answer.text for answer in read_pipeline(self.given).answers)
            if self.is_pipeline
            else ()
        )

    def __call__(self) -> Pipeline:
        """Opens the pipeline.

        Raises:
            FascicleError: it cannot be opened.
        """
        if self.is_pipeline:
            return open_pipeline(self.given)
        steps_of_model = model_steps(
            self.given, self.choices, threads=1, device=self.device, finder=True
        )
        segmenter_name = steps_of_model[0].predictor.segmenter
        return Pipeline(steps_of_model, name=self.name, segmenter=segmenter_name)

    @property
    def name(self) -> str:
        """Name under which the pipeline is served."""
        if self.is_pipeline:
            return read_pipeline(self.given).name
        return Path(self.given).expanduser().name if os.sep in self.given else self.given
