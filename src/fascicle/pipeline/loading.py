"""Loading of a ``pipeline.toml`` as a pipeline: the table of kinds of steps, and a function that opens each."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from fascicle.pipeline.pipeline import Pipeline
from fascicle.pipeline.steps import Own
from fascicle.settings.pipeline import PipelineSettings, read_pipeline
from fascicle.settings.steps import (
    AbbreviationsStep,
    ChoiceStep,
    CombineStep,
    CoordinationStep,
    DictionaryStep,
    DropStep,
    FilterStep,
    LinkStep,
    PluginStep,
    PreferStep,
    ProcessStep,
    RecogniserStep,
    RulesStep,
    StepSettings,
    TyperStep,
    VariantsStep,
)


def open_pipeline(path: str | os.PathLike[str]) -> Pipeline:
    """Opens a pipeline, and checks its rules and its known answers.

    Args:
        path: of a ``pipeline.toml``, or of a folder with one.

    Raises:
        RecipeError: the file is wrong, steps do not fit together, a rule fails its test, or an answer is not found.
        FascicleError: a part of it cannot be opened.
    """
    return opened(read_pipeline(path))


def opened(settings: PipelineSettings) -> Pipeline:
    """Opens the pipeline of settings; see `open_pipeline`."""
    steps: list[Any] = []
    try:
        for kind, step in settings.steps:
            steps.append(OPENERS[kind](step, settings))
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
        for one in steps:
            if hasattr(one, "close"):
                one.close()
        raise
    return pipeline


def _recogniser(settings: RecogniserStep, pipeline: PipelineSettings) -> Any:
    from fascicle.loading import load
    from fascicle.pipeline.steps import MENTIONS, Recognise

    predictor: Any = load(
        settings.model,
        also=settings.also,
        case=settings.case,
        threads=settings.threads,
        ends=settings.ends or None,
        only=settings.only,
        threshold=settings.min_score,
    )
    return Recognise(name=settings.name, predictor=predictor, gives=MENTIONS, fingerprint=predictor.fingerprint)


def _dictionary(settings: DictionaryStep, pipeline: PipelineSettings) -> Any:
    from fascicle.pipeline.steps import LINKED, MENTIONS, Recognise
    from fascicle.settings.recognition import RecognitionSettings
    from fascicle.terms.pack.pack import Pack
    from fascicle.terms.recognising import PackRecogniser

    chosen = {name: getattr(settings, name) for name in RecognitionSettings.__struct_fields__}
    predictor = PackRecogniser({settings.name: Pack.open(settings.pack)}, settings=RecognitionSettings(**chosen))
    gives = LINKED if settings.links else MENTIONS
    return Recognise(name=settings.name, predictor=predictor, gives=gives, fingerprint=predictor.fingerprint)


def _abbreviations(settings: AbbreviationsStep, pipeline: PipelineSettings) -> Any:
    from fascicle.terms.abbreviations.finder import AbbreviationFinder

    return Own(AbbreviationFinder(), name=settings.name)


def _variants(settings: VariantsStep, pipeline: PipelineSettings) -> Any:
    from fascicle.pipeline.steps import LINKED, Recognise
    from fascicle.terms.variants.recogniser import VariantRecogniser

    predictor = VariantRecogniser(settings.name)
    return Recognise(name=settings.name, predictor=predictor, gives=LINKED, fingerprint=predictor.fingerprint)


def _link(settings: LinkStep, pipeline: PipelineSettings) -> Any:
    from fascicle.linking.opening import find

    found = find(settings.linker, settings.packs, ontology=settings.ontology, strategies=settings.strategies)
    return Own(found.opened(), name=settings.name)


def _coordination(settings: CoordinationStep, pipeline: PipelineSettings) -> Any:
    from fascicle.linking.coordination import Coordination
    from fascicle.linking.opening import find
    from fascicle.pipeline.steps import fingerprint_of

    linker, mark = find(settings.linker, settings.packs).opened(), _told(settings, fingerprint_of)
    return Coordination(settings.name, linker, sources=settings.sources, known=settings.known, fingerprint=mark)


def _combine(settings: CombineStep, pipeline: PipelineSettings) -> Any:
    from fascicle.pipeline.steps import Combine, fingerprint_of
    from fascicle.runtime.combination.rules import RuleRequest

    request = RuleRequest(name=settings.rule, k=settings.k, weights=settings.weights or None, threshold=settings.share)
    rule = request.rule()
    rule.check(len(settings.sources))
    return Combine(name=settings.name, layers=settings.sources, rule=rule, fingerprint=_told(settings, fingerprint_of))


def _filter(settings: FilterStep, pipeline: PipelineSettings) -> Any:
    from fascicle.loading import load_filter
    from fascicle.pipeline.steps import Filter, fingerprint_of

    judge = load_filter(settings.filter, threads=settings.threads)
    mark = fingerprint_of(settings.sources, msgspec.json.encode(judge.manifest).decode())
    return Filter(name=settings.name, layers=settings.sources, judge=judge, fingerprint=mark)


def _typer(settings: TyperStep, pipeline: PipelineSettings) -> Any:
    from fascicle.loading import load_typer
    from fascicle.pipeline.steps import Type, fingerprint_of

    typer = load_typer(settings.typer, threads=settings.threads)
    mark = fingerprint_of(settings.sources, msgspec.json.encode(typer.manifest).decode())
    return Type(name=settings.name, layers=settings.sources, typer=typer, fingerprint=mark)


def _rules(settings: RulesStep, pipeline: PipelineSettings) -> Any:
    from fascicle.pipeline.rules import Rules
    from fascicle.pipeline.steps import fingerprint_of
    from fascicle.text.segment import segmenter

    mark = _told(settings, fingerprint_of)
    return Rules(settings.name, settings.rules, segmenter=segmenter(pipeline.segmenter), fingerprint=mark)


def _choice(settings: ChoiceStep, pipeline: PipelineSettings) -> Any:
    from fascicle.pipeline.steps import Choice, fingerprint_of

    return Choice(
        name=settings.name,
        layers=settings.sources,
        keep=settings.keep,
        types=settings.types,
        fingerprint=_told(settings, fingerprint_of),
    )


def _changing(settings: DropStep | PreferStep, pipeline: PipelineSettings) -> Any:
    """Makes a step that changes mentions of given layers by its settings alone."""
    from fascicle.pipeline.steps import Drop, Prefer, fingerprint_of

    sources, mark = frozenset(settings.sources), _told(settings, fingerprint_of)
    if isinstance(settings, DropStep):
        return Drop(name=settings.name, drops=sources, settings=settings, fingerprint=mark)
    return Prefer(name=settings.name, drops=sources, settings=settings, fingerprint=mark)


def _plugin(settings: PluginStep, pipeline: PipelineSettings) -> Any:
    from fascicle.pipeline.apart import PluggedStep

    given = PluggedStep(plugin=settings.plugin, name=settings.name, options=settings.options, folder=pipeline.folder)
    return given.opened(settings)


def _process(settings: ProcessStep, pipeline: PipelineSettings) -> Any:
    from fascicle.pipeline.process import ProcessStep as Program

    program, *arguments = (part.replace("{folder}", pipeline.folder) for part in settings.command)
    # As all relative paths of a pipeline; a name without a separator is looked for on the search path.
    command = [str(Path(pipeline.folder, program)) if os.sep in program else program, *arguments]
    memory = settings.memory << 20 if settings.memory is not None else None
    return Program(settings.name, command, seconds=settings.seconds, longest=settings.longest << 20, memory=memory)


def _told(settings: StepSettings, hashed: Callable[..., str]) -> str:
    return hashed(msgspec.json.encode(settings).decode())


# What opens each kind of step; the settings of each are in `fascicle.settings.steps.STEPS`. A new kind of step has a
# row in both tables.
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
        "rules": _rules,
        "choice": _choice,
        "drop": _changing,
        "prefer": _changing,
        "plugin": _plugin,
        "process": _process,
    }
)
