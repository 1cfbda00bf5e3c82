"""Loading of a ``pipeline.toml`` as a pipeline, or of a model as one, in any process; what opens
each kind of step.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from fascicle.errors import UsageError
from fascicle.linking.opening import Linking, find
from fascicle.loading import (
    filter_output,
    load,
    load_all_types,
    load_filter,
    load_typer,
    open_own_names,
    with_assertions,
)
from fascicle.pipeline import steps
from fascicle.pipeline.pipeline import Pipeline
from fascicle.runtime.combination.rules import RuleRequest
from fascicle.runtime.places import is_shipped, pack_folders
from fascicle.settings import steps as kinds
from fascicle.settings.assertion import read_cues
from fascicle.settings.folders.vocabularies import AUTO, DEFAULT_LINKER, shipped_linkers
from fascicle.settings.inputs import Case, RecognitionSettings
from fascicle.settings.pipeline import Limits, PipelineSettings, Shards, is_pipeline, read_pipeline
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
    made: list[Any] = []
    try:
        for kind, step in settings.steps:
            made.append(OPENERS[kind](step, settings))
        pipeline = Pipeline(
            made,
            name=settings.name,
            segmenter=settings.segmenter,
            keep_cut=settings.keep_cut,
            given=settings.given,
            limits=settings.limits,
        )
        pipeline.check(settings.answers)
    except BaseException:
        for one in made:
            if hasattr(one, "close"):
                one.close()
        raise
    return pipeline


def _recogniser(settings: kinds.RecogniserStep, pipeline: PipelineSettings) -> Any:
    predictor: Any = load(
        settings.model,
        also=settings.also,
        case=settings.case,
        threads=settings.threads,
        ends=settings.ends or None,
        only=settings.only,
        threshold=settings.min_score,
    )
    return steps.Recognise(
        name=settings.name,
        predictor=predictor,
        gives=steps.MENTIONS,
        fingerprint=predictor.fingerprint,
    )


def _dictionary(settings: kinds.DictionaryStep, pipeline: PipelineSettings) -> Any:
    from fascicle.terms.pack.pack import Pack
    from fascicle.terms.recognising import PackRecogniser

    chosen = {name: getattr(settings, name) for name in RecognitionSettings.__struct_fields__}
    predictor = PackRecogniser(
        {settings.name: Pack.open(settings.pack)}, settings=RecognitionSettings(**chosen)
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
    found = find(
        settings.linker, settings.packs, ontology=settings.ontology, strategies=settings.strategies
    )
    return steps.Own(found.opened(), name=settings.name)


def _coordination(settings: kinds.CoordinationStep, pipeline: PipelineSettings) -> Any:
    from fascicle.linking.coordination import Coordination

    linker, mark = find(settings.linker, settings.packs).opened(), _told(settings)
    return Coordination(
        settings.name, linker, sources=settings.sources, known=settings.known, fingerprint=mark
    )


def _combine(settings: kinds.CombineStep, pipeline: PipelineSettings) -> Any:
    request = RuleRequest(
        name=settings.rule, k=settings.k, weights=settings.weights or None, threshold=settings.share
    )
    rule = request.rule()
    rule.check(len(settings.sources))
    return steps.Combine(
        name=settings.name, layers=settings.sources, rule=rule, fingerprint=_told(settings)
    )


def _filter(settings: kinds.FilterStep, pipeline: PipelineSettings) -> Any:
    judge = load_filter(settings.filter, threads=settings.threads)
    mark = _told(judge.manifest, settings.sources)
    return steps.Filter(name=settings.name, layers=settings.sources, judge=judge, fingerprint=mark)


def _typer(settings: kinds.TyperStep, pipeline: PipelineSettings) -> Any:
    typer = load_typer(settings.typer, threads=settings.threads)
    mark = _told(typer.manifest, settings.sources)
    return steps.Type(name=settings.name, layers=settings.sources, typer=typer, fingerprint=mark)


def _rules(settings: kinds.RulesStep, pipeline: PipelineSettings) -> Any:
    from fascicle.pipeline.rules import Rules

    mark = _told(settings)
    return Rules(
        settings.name, settings.rules, segmenter=segmenter(pipeline.segmenter), fingerprint=mark
    )


def _choice(settings: kinds.ChoiceStep, pipeline: PipelineSettings) -> Any:
    return steps.Choice(
        name=settings.name,
        layers=settings.sources,
        keep=settings.keep,
        types=settings.types,
        fingerprint=_told(settings),
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
    sources, mark = frozenset(settings.sources), _told(settings)
    if isinstance(settings, kinds.DropStep):
        return steps.Drop(name=settings.name, drops=sources, settings=settings, fingerprint=mark)
    return steps.Prefer(name=settings.name, drops=sources, settings=settings, fingerprint=mark)


def _plugin(settings: kinds.PluginStep, pipeline: PipelineSettings) -> Any:
    from fascicle.pipeline.process import PluggedStep

    given = PluggedStep(
        plugin=settings.plugin, name=settings.name, options=settings.options, folder=pipeline.folder
    )
    return given.opened(settings)


def _process(settings: kinds.ProcessStep, pipeline: PipelineSettings) -> Any:
    from fascicle.pipeline.process import ProcessStep as Program

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


def _told(settings: msgspec.Struct, *sources: tuple[str, ...]) -> str:
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
        "rules": _rules,
        "assertion": _assertion,
        "choice": _choice,
        "drop": _changing,
        "prefer": _changing,
        "plugin": _plugin,
        "process": _process,
    }
)


def _from_anywhere(given: str) -> str:
    """Returns what opens the same from any folder: a whole path, or the name of what is shipped
    or a plug-in.
    """
    there = Path(given).expanduser()
    return str(there.resolve()) if there.exists() and not is_shipped(given) else given


@dataclass(frozen=True, kw_only=True)
class PipelineOpener:
    """Opener of a pipeline, callable in any process.

    Attributes:
        given: a pipeline, or what `fascicle.load` takes.
        link: linker of a model, as `fascicle.load` takes it.
        also: names beside a model, as `fascicle.load` takes them.
        case: in which capitals names are found, as `fascicle.load` takes it.
        assertions: facts of the mentions of a model, as `fascicle.load` takes them.
    """

    given: str
    link: str | None = AUTO
    also: tuple[str, ...] = ()
    case: Case = "auto"
    assertions: bool | str = False

    def from_anywhere(self) -> PipelineOpener:
        """Returns the same opener, with paths that hold in any folder; see `refuse_names` too."""
        self.refuse_names()
        cues = (
            _from_anywhere(self.assertions) if isinstance(self.assertions, str) else self.assertions
        )
        also = tuple(map(_from_anywhere, self.also))
        return replace(self, given=_from_anywhere(self.given), also=also, assertions=cues)

    def refuse_names(self) -> None:
        """Refuses own names and facts of mentions beside a pipeline.

        Raises:
            UsageError: there are some, and a pipeline was given.
        """
        if self.assertions and self.is_pipeline:
            raise UsageError(
                f"the argument assertions is for models, and {self.given} is a pipeline; write a "
                "step of the kind "
                "assertion into it"
            )
        if self.also and self.is_pipeline:
            raise UsageError(
                f"the argument also is for models, and {self.given} is a pipeline; give a model "
                "such as "
                f"biomed, or write also = {json.dumps(self.also)} into the step recogniser of a "
                "pipeline of your own"
            )

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
            tuple(one.text for one in read_pipeline(self.given).answers) if self.is_pipeline else ()
        )

    def __call__(self) -> Pipeline:
        """Opens the pipeline.

        Raises:
            FascicleError: it cannot be opened.
        """
        if self.is_pipeline:
            return open_pipeline(self.given)
        bare = self.link is None and pack_folders((self.given,))
        recognition = RecognitionSettings(links=False) if bare else None
        names = open_own_names(self.also, case=self.case, links=self.link is not None)
        model = filter_output(
            load_all_types(self.given, threads=1, recognition=recognition, case=self.case),
            also=names,
        )
        model = with_assertions(model, self.assertions)
        gives = steps.LINKED if "links" in model.gives else steps.MENTIONS
        step = steps.Recognise(
            name=model.name, predictor=model, gives=gives, fingerprint=model.fingerprint
        )
        finder, linker = AbbreviationFinder(), self._linker(model)
        linking = (
            []
            if linker is None
            else [steps.Own(finder, name="abbreviations"), steps.Own(linker, name="link")]
        )
        return Pipeline([step, *linking], name=self.name, segmenter=model.segmenter)

    def _linker(self, model: Annotator) -> Linking | None:
        """Returns the linker for the mentions of a model, or ``None``."""
        is_asked = self.link is not None and self.link != AUTO
        if self.link is None or (not is_asked and (model.links or not shipped_linkers())):
            return None
        name = self.link if is_asked else DEFAULT_LINKER
        found = find(name)
        if found.covered(model.types):
            return found.opened()
        if is_asked:
            raise UsageError(
                f"the packs of the linker {name} have no concepts of the types of {model.name}"
            )
        return None

    @property
    def name(self) -> str:
        """Name under which the pipeline is served."""
        if self.is_pipeline:
            return read_pipeline(self.given).name
        return Path(self.given).expanduser().name if os.sep in self.given else self.given
