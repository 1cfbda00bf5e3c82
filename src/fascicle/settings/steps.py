"""Settings of each kind of step of a pipeline; the keys of a table ``[[steps]]``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, get_args

from msgspec import UNSET, Meta, UnsetType, field

from fascicle.settings.assertion import ENGLISH, Fact
from fascicle.settings.base import Name, Names, Positive, Settings, Share
from fascicle.settings.choices import Choices
from fascicle.settings.folders.vocabularies import DEFAULT_LINKER

KnownNames = Literal["any", "all"]
Keep = Literal["all", "nested", "flat"]
Near = Literal["exact", "folded", "canonical", "reordered", "near", "remembered"]
_Pattern = Annotated[str, Meta(max_length=1_000)]  # a regular expression


_PATHS: Final = frozenset({"cues", "pack", "linker", "packs", "filter", "typer", "relations"})
_StepName = Annotated[str, Meta(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]*)?\Z", max_length=100)]


class StepSettings(Settings, frozen=True, kw_only=True):
    """One step.

    Attributes:
        name: of the step, in events and in quarantine; by default the kind, or what a program calls
            itself. It is the source of the mentions that a step adds; those of a recogniser have
            the name of their model.
    """

    name: _StepName = ""

    def places(self) -> Mapping[str, str | tuple[str, ...]]:
        """Returns the paths of files and folders that the step reads, by their keys; some may be
        shipped names.
        """
        return {key: getattr(self, key) for key in self.__struct_fields__ if key in _PATHS}


class RecogniserStep(Choices, frozen=True, kw_only=True):
    """A model, an ensemble, a dictionary, term packs, or a predictor of another package, with
    choices about its mentions.

    Attributes:
        name: see `StepSettings`.
        model: as ``fascicle annotate --model`` takes it; a path from the folder of the pipeline.
        threads: of the network of the model, in each worker.
        device: where the network computes, as `fascicle.load` takes it.
        min_score: an older name of ``threshold``.
    """

    name: _StepName = ""
    model: Name | Names
    threads: Positive = 1
    device: Name = "cpu"
    min_score: Share | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Refuses the threshold under both of its names; see `Choices` too."""
        super().__post_init__()
        if self.min_score is not UNSET and self.threshold:
            raise ValueError("min_score is an older name of threshold: give threshold alone")

    @property
    def choices(self) -> Choices:
        """The choices alone."""
        values = {name: getattr(self, name) for name in Choices.__struct_fields__}
        if self.min_score is not UNSET:
            values["threshold"] = self.min_score
        return Choices(**values)

    def places(self) -> Mapping[str, str | tuple[str, ...]]:
        """See `StepSettings.places`."""
        return {"model": self.model, **super().places()}


class DictionaryStep(StepSettings, frozen=True, kw_only=True):
    """The names of a term pack, with types and, where these are sure, links.

    Attributes:
        pack: folder of ``fascicle index build``.
        overlaps: ``"longest"``, ``"nested"`` or ``"all"`` of the names that overlap.
        threshold: least sum of the priors of the names of a type at a place.
        case: whether the case policies of names count.
        hyphens: where a name may begin and end within a word: ``"open"``, ``"before"`` or
            ``"closed"``.
        inside_words: whether a name may begin or end inside a word.
        types: the types that are looked for; all of the pack by default.
        links: whether a mention is linked whose best names belong to one concept.
    """

    pack: Name
    overlaps: Literal["longest", "nested", "all"] = "longest"
    threshold: Share = 0.3
    case: bool = True
    hyphens: Literal["open", "before", "closed"] = "open"
    inside_words: bool = False
    types: tuple[Name, ...] = ()
    links: bool = True


class AbbreviationsStep(StepSettings, frozen=True, kw_only=True):
    """Notes where a document defines short forms."""


class VariantsStep(StepSettings, frozen=True, kw_only=True):
    """Sequence variants such as ``c.1799T>A``, ``Val600Glu`` and ``rs113488022``, with their
    names in HGVS as links.
    """


class LinkStrategy(Settings, frozen=True, kw_only=True):
    """How the mentions of one type are linked.

    Attributes:
        keys: how near a name must be that counts, the nearest first; looser ones are tried where
            nearer ones find nothing.
        ranker: what orders candidates: ``"fitted"``: the ranker of the linker, if it has one for
            the type; ``"stated"``: stated weights, which give no probability.
        fallback: what is answered where the first candidates are equally good: ``"ambiguous"``: all
            of them; ``"first"``: the first by a fixed order; ``"nil"``: none.
        species: ``"weighed"``: that the text names the species of a concept speaks for it;
            ``"named"``: where there is a candidate of the likeliest species, those of others do not
            count; or a CURIE such as ``"NCBITaxon:9606"``: those of other species never count.
            Concepts without a species count always.
        vocabularies: prefixes of those that are answered, the best first; by default those of the
            linker.
    """

    keys: Annotated[tuple[Near, ...], Meta(min_length=1)] = get_args(Near)
    ranker: Literal["fitted", "stated"] = "fitted"
    fallback: Literal["ambiguous", "first", "nil"] = "ambiguous"
    species: Name = "weighed"
    vocabularies: tuple[Name, ...] = ()


class LinkStep(StepSettings, frozen=True, kw_only=True):
    """Concepts for the mentions of all layers that have no links; long forms lend evidence to their
    short forms.

    Attributes:
        linker: folder of ``fascicle linker fit``, or the name of a shipped linker.
        packs: of the linker, where it does not find them by itself.
        ontology: prefix of a vocabulary, such as ``"MONDO"``, in which links are given by the
            references of the packs.
        strategies: type of mentions -> how they are linked; other types are linked as the linker
            does by itself.
    """

    linker: Name = DEFAULT_LINKER
    packs: tuple[Name, ...] = ()
    ontology: str = ""
    strategies: dict[Name, LinkStrategy] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses two choices of a vocabulary."""
        if self.ontology and any(strategy.vocabularies for strategy in self.strategies.values()):
            raise ValueError(
                "ontology chooses one vocabulary for all types: leave it out, or those of "
                "strategies"
            )


class CoordinationStep(StepSettings, frozen=True, kw_only=True):
    """Mentions of coordinated names become one for each name, discontinuous where words are shared.

    Attributes:
        sources: of the layers whose mentions are read; what replaces them is in the same layer.
        known: which of the names within a mention the packs must have: ``"any"``: one; ``"all"``.
            Those that begin or end outside of a mention must all be known.
        linker: whose packs have the names: a folder of ``fascicle linker fit``, or the name of a
            shipped linker.
        packs: of the linker, where it does not find them by itself.
    """

    sources: Names
    known: KnownNames = "any"
    linker: Name = DEFAULT_LINKER
    packs: tuple[Name, ...] = ()


class CombineStep(StepSettings, frozen=True, kw_only=True):
    """A layer of mentions that several layers agree on.

    Attributes:
        sources: of the layers.
        rule: ``"union"``, ``"majority"``, ``"kofn"`` or ``"weighted"``.
        k: of ``"kofn"``, how many layers must agree.
        weights: of ``"weighted"``, one for each source.
        share: of ``"weighted"``, the share of the weights to exceed.
    """

    sources: Annotated[tuple[Name, ...], Meta(min_length=2)]
    rule: Literal["union", "majority", "kofn", "weighted"] = "majority"
    k: Positive | None = None
    weights: tuple[float, ...] = ()
    share: Share | None = None


class _NetworkStep(StepSettings, frozen=True, kw_only=True):
    """A step with a network of its own.

    Attributes:
        threads: of the network, in each worker.
        device: see `RecogniserStep`.
    """

    threads: Positive = 1
    device: Name = "cpu"


class FilterStep(_NetworkStep, frozen=True, kw_only=True):
    """A layer of the mentions of other layers that a learned filter accepts.

    Attributes:
        filter: folder of the filter.
        sources: of the layers that are judged.
    """

    filter: Name
    sources: Names


class TyperStep(_NetworkStep, frozen=True, kw_only=True):
    """A layer of the mentions of other layers, with the types that a span typer gives them.

    Attributes:
        typer: folder of the span typer; it needs the extra ``train``.
        sources: of the layers that are typed.
    """

    typer: Name
    sources: Names


class RelateStep(_NetworkStep, frozen=True, kw_only=True):
    """Relations between the mentions of some layers, or between their concepts; those of an earlier
    run are replaced.

    Attributes:
        relations: folder of the finder of relations.
        sources: of the layers.
    """

    relations: Name
    sources: Names


class RuleTest(Settings, frozen=True, kw_only=True):
    """What a rule must do, tried when the pipeline is loaded.

    Attributes:
        text: a text; mentions for a rule that drops or retypes stand in ``[[`` and ``]]``.
        find: the words of each mention that there must be afterwards: of the new type for a rule
            that retypes, else of the type of the rule.
    """

    text: Name
    find: tuple[Name, ...]


class RuleSettings(Settings, frozen=True, kw_only=True):
    r"""One rule over the words of a sentence, joined by one space; patterns are regular
    expressions.

    Attributes:
        type: of mentions that are added, dropped or retyped.
        does: ``"add"``: a mention where ``words`` stands; ``"drop"``: no such mention;
            ``"retype"``: another type.
        to: the new type of ``"retype"``.
        words: what the words of the mention are, from the first to the last, such as ``"[A-Z]{2,5}
            \\d+"``; a rule that adds needs it.
        before: what the words before it end with.
        after: what the words behind it begin with.
        not_before: what they may not end with.
        not_after: what they may not begin with.
        sources: the layers whose mentions are dropped or retyped.
        sections: names of sections outside of which the rule does nothing; ``"abstract"`` also
            means ``"abstract-methods"``, and ``"page=3"`` means sections with this attribute. Its
            tests are such sections.
        tests: of the rule; at least one.
    """

    type: Name
    does: Literal["add", "drop", "retype"] = "add"
    to: str = ""
    words: _Pattern = ""
    before: _Pattern = ""
    after: _Pattern = ""
    not_before: _Pattern = ""
    not_after: _Pattern = ""
    sources: tuple[Name, ...] = ()
    sections: tuple[Name, ...] = ()
    tests: Annotated[tuple[RuleTest, ...], Meta(min_length=1)]

    def __post_init__(self) -> None:
        """Refuses invalid combinations of settings."""
        if self.does == "add" and (not self.words or self.sources):
            raise ValueError('does = "add" needs words, and takes no sources')
        if self.does != "add" and not self.sources:
            raise ValueError(
                f'does = "{self.does}" needs sources, the layers whose mentions it changes'
            )
        if (self.does == "retype") != bool(self.to):
            raise ValueError('does = "retype" needs to, the new type, and no other rule takes it')


class RulesStep(StepSettings, frozen=True, kw_only=True):
    """Rules over words and their context; each is applied to what the one before it left.

    Attributes:
        rules: in order.
    """

    rules: Annotated[tuple[RuleSettings, ...], Meta(min_length=1)]


class AssertionStep(StepSettings, frozen=True, kw_only=True):
    """What the text says of mentions, by cues such as ``no evidence of``: an attribute of each
    mention for each fact.

    Attributes:
        sources: of the layers.
        cues: ``"en"`` for the shipped ones, or a TOML file.
        types: type of mentions -> facts that are looked for; all of the cues for other types.
    """

    sources: Names
    cues: Name = ENGLISH
    types: dict[Name, tuple[Fact, ...]] = field(default_factory=dict)


class ChoiceStep(StepSettings, frozen=True, kw_only=True):
    """Which mentions of several layers may stand beside each other; the others are dropped.

    The mentions are gone through by falling score (one without a score counts as 1), longer ones
    first, then in the order of the text and of the sources; each stays that may stand beside all
    that stayed before it.

    Attributes:
        sources: of the layers.
        keep: ``"all"``; ``"nested"``: one may lie in another, but none crosses another, and none
            occurs twice; ``"flat"``: none overlaps another.
        types: type -> what is kept of it; these types compete with no other.
    """

    sources: Names
    keep: Keep = "nested"
    types: dict[Name, Keep] = field(default_factory=dict)


class DropStep(StepSettings, frozen=True, kw_only=True):
    """Drops the mentions of some layers that meet every condition which is set; all of them if none
    is.

    Attributes:
        sources: of the layers.
        types: mentions of these types.
        below: those with a score below it; by default also those without a score.
        unlinked: those that have no concept; NIL is none.
        shorter: those with fewer characters than this.
        vocabularies: those with concepts of these vocabularies (prefixes such as ``"MESH"``) alone.
        facts: those with one of these facts of the step ``assertion``, such as ``"negated"``.
        sections: those in sections of these names, such as ``"references"``; ``"abstract"`` also
            means ``"abstract-methods"``, and ``"page=3"`` means sections with this attribute.
    """

    sources: Names
    types: tuple[Name, ...] = ()
    facts: tuple[Fact, ...] = ()
    below: Share | None = None
    unlinked: bool = False
    shorter: Positive | None = None
    vocabularies: tuple[Name, ...] = ()
    sections: tuple[Name, ...] = ()

    def __post_init__(self) -> None:
        """Refuses conditions that no mention meets together."""
        if self.unlinked and self.vocabularies:
            raise ValueError(
                "no mention is unlinked and has concepts of vocabularies; write two steps"
            )


class PreferStep(StepSettings, frozen=True, kw_only=True):
    """The links of mentions in the first of some vocabularies that they have; the others become
    equivalents.

    Attributes:
        sources: of the layers.
        vocabularies: prefixes such as ``"MONDO"``, the best first. A mention without any of them
            keeps its links.
        types: of mentions that change; all by default.
    """

    sources: Names
    vocabularies: Names
    types: tuple[Name, ...] = ()


class PluginStep(StepSettings, frozen=True, kw_only=True):
    """A step by its entry point in ``fascicle.steps``: of another package, or an adapter of a
    program of others.

    Attributes:
        plugin: its name.
        options: settings of a step that takes some; only such a step takes ``name`` too.
        apart: whether it runs in a process of its own, which ends when it takes too long; by
            default what the plug-in says, and the adapters of Fascicle say true.
        seconds: time limit of one batch, and of the start.
        memory: MiB of its own that such a process may take on Linux; no limit by default.
    """

    plugin: Name
    options: dict[str, Any] = field(default_factory=dict)
    apart: bool | UnsetType = UNSET
    seconds: Annotated[float, Meta(gt=0, le=86_400)] = 120.0
    memory: Positive | None = None


class ProcessStep(StepSettings, frozen=True, kw_only=True):
    """A program that speaks lines of JSON on its standard input and output, in any language and
    environment.

    Attributes:
        command: the program and its arguments. ``{folder}`` in them is the folder of the pipeline.
            A relative path of the program begins there too; a name without a separator is looked
            for on the search path.
        seconds: time limit of one batch, and of the start.
        memory: MiB of its own that the program may take on Linux; by default twice
            ``limits.memory``.
        longest: greatest size of one line of its answer in MiB.
    """

    command: Names
    seconds: Annotated[float, Meta(gt=0, le=86_400)] = 60.0
    memory: Positive | None = None
    longest: Positive = 64


STEPS: Final[Mapping[str, type[StepSettings] | type[RecogniserStep]]] = MappingProxyType(
    {
        "recogniser": RecogniserStep,
        "dictionary": DictionaryStep,
        "abbreviations": AbbreviationsStep,
        "variants": VariantsStep,
        "link": LinkStep,
        "coordination": CoordinationStep,
        "combine": CombineStep,
        "filter": FilterStep,
        "typer": TyperStep,
        "relate": RelateStep,
        "rules": RulesStep,
        "assertion": AssertionStep,
        "choice": ChoiceStep,
        "drop": DropStep,
        "prefer": PreferStep,
        "plugin": PluginStep,
        "process": ProcessStep,
    }
)
