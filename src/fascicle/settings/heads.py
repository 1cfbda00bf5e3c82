"""Settings of all families of heads; a family's name in recipes and model files is the tag of
its class.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from fascicle.settings.base import Natural, Rate, Settings

Level = Literal["word", "piece"]
WIDEST = 256
FEWEST_INSTANCES: Final = 3  # read for each type at inference (*binder* Table 5)
# of types, by a file that describes them
FILE_VIEWS: Final = ("description", "keyword", "instances")


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """Requirements of a head before it can be built or used, derived from its settings.

    Attributes:
        width: a width that is found in the training data.
        opening: a special token before a text.
        types: path of a file that describes the types; empty for none.
        drawn: number of instances of each type that are drawn from train to describe it.
        reads: what of each type it reads: a ``type_view``; empty if types are labels or learnt
            vectors.
        fixed: why it cannot look for other types than it was trained on; empty if it can.
        windows: which windows it is trained on: ``"all"``, or those with ``"mentions"``.
        threshold: what is fitted on dev, without which its scores mean nothing: ``"one"``
            threshold, or one for each of its ``"types"``; empty if nothing is.
        masks: whether its loss can leave out exactly what it says of types that a text does not
            annotate.
        soft: whether it can be taught probabilities of tags.
    """

    width: bool = False
    opening: bool = False
    types: str = ""
    drawn: int = 0
    reads: str = ""
    fixed: str = ""
    windows: Literal["all", "mentions"] = "all"
    threshold: Literal["", "one", "types"] = ""
    masks: bool = False
    soft: bool = False


class HeadSettings(Settings, frozen=True, kw_only=True, tag_field="family"):
    """Settings of all heads: how states of pieces become states of units.

    Attributes:
        level: what is labelled, or what spans are made of: each ``"word"`` or each ``"piece"``.
        pooling: how the pieces of a word become one vector; pieces need none.
        specials: whether the special tokens around a text take part in the loss, as "no mention"
            (O, None); only for pieces.
        dropout: probability of dropping a component of a unit's state.
    """

    level: Level = "word"
    pooling: Literal["first", "max", "mean"] = "first"
    specials: Literal["exclude", "include"] = "exclude"
    dropout: Annotated[float, Meta(ge=0.0, lt=1.0)] = 0.1

    def __post_init__(self) -> None:
        """Refuses combinations without a meaning."""
        if self.level == "piece" and self.pooling != "first":
            raise ValueError(
                f'pooling = "{self.pooling}" needs level = "word": a piece has nothing to pool'
            )
        if self.level == "word" and self.specials == "include":
            raise ValueError(
                'specials = "include" needs level = "piece": special tokens are not words'
            )

    @property
    def family(self) -> str:
        """Name of the family."""
        return str(self.__struct_config__.tag)

    @property
    def needs(self) -> Needs:
        """Requirements of a head of this family; by default none, with types as labels."""
        return Needs(
            fixed=f"its family is {self.family!r}, which learns its types as labels; only "
            "'binder' reads about them"
        )


class TaggerSettings(HeadSettings, frozen=True, kw_only=True):
    """Settings of all taggers.

    Attributes:
        scheme: scheme of the tags in training, ``"BIO"`` or ``"IO"``.
        decoding: ``"strict"``, ``"lenient"`` (an orphan I- opens a mention), or ``"viterbi"`` (best
            legal path).
    """

    scheme: Literal["BIO", "IO"] = "BIO"
    decoding: Literal["strict", "lenient", "viterbi"] = "viterbi"

    @property
    def needs(self) -> Needs:
        """No requirements; if a type is not annotated, a unit in no mention may have its tags."""
        return replace(super().needs, masks=True)


class SoftmaxSettings(TaggerSettings, frozen=True, kw_only=True, tag="softmax"):
    """A tag for each unit on its own (*comparing-and-combining* §4.1, *bundling-learning*
    §3.1.2).
    """


class CrfSettings(TaggerSettings, frozen=True, kw_only=True, tag="crf"):
    """A linear-chain CRF over the tags (*comparing-and-combining* §4.2).

    Attributes:
        loss: negative log-likelihood of a batch per ``"unit"``, so that it can be mixed with mean
            losses, or per ``"sequence"`` (*bundling-learning* Eq. 10).
    """

    loss: Literal["unit", "sequence"] = "unit"

    def __post_init__(self) -> None:
        """Refuses repairs of sequences that a CRF never returns."""
        super().__post_init__()
        if self.decoding != "viterbi":
            raise ValueError(
                f'decoding = "{self.decoding}" is not allowed with family = "crf": use "viterbi"'
            )


class MultiLabelSettings(TaggerSettings, frozen=True, kw_only=True, tag="multilabel"):
    """Labels of a unit that do not exclude each other: a logistic function for each
    (*tinybern2-kazu* §3).

    Attributes:
        decoding: what becomes of an I that continues nothing: dropped with its run (``"strict"``),
            or it opens a mention (``"lenient"``).
        outside: target of the output O from soft labels y: ``"max"``, 1 less the largest y;
            ``"product"``, the product of all 1 - y; ``"hard"``, 1 if no y is above 0.5. From hard
            labels all three are equal.
        inference_pooling: which pieces of a word decide at inference: the ``"first"``, which is
            trained; the ``"max"`` over all, so that any piece is enough (Kazu); or their
            ``"mean"``.
        breakers: characters; a word or piece that begins with one is in no mention, so a mention
            ends before it.
    """

    decoding: Literal["strict", "lenient"] = "lenient"
    outside: Literal["max", "product", "hard"] = "max"
    inference_pooling: Literal["first", "max", "mean"] = "first"
    breakers: str = ""

    @property
    def needs(self) -> Needs:
        """No requirements; each label is an output of its own, which can be trained alone."""
        return replace(super().needs, soft=True)

    def __post_init__(self) -> None:
        """Refuses two kinds of pooling, and pooling of pieces if units are pieces."""
        super().__post_init__()
        if self.inference_pooling != "first" and (self.level, self.pooling) != ("word", "first"):
            raise ValueError(
                f'inference_pooling = "{self.inference_pooling}" needs level = "word" and '
                'pooling = "first": it pools '
                "the scores of the pieces of a word in place of their states"
            )


class SpanHeadSettings(HeadSettings, frozen=True, kw_only=True):
    """Settings of all span classifiers.

    Attributes:
        width: most units in a mention; 0 for the smallest width that covers 99 % of the mentions of
            train.
        width_embedding: size of a learnt vector for each width; 0 for none.
        negatives: number of spans that are no mention, drawn anew for each window in every epoch; 0
            for all of them.
        decoding: ``"nested"`` (every span is decided alone), or without overlaps: ``"greedy"`` (the
            most probable span first) or ``"optimal"`` (the set with the largest sum of
            probabilities).
    """

    width: Annotated[int, Meta(ge=0, le=WIDEST)] = 0
    width_embedding: Annotated[int, Meta(ge=0, le=1024)] = 0
    negatives: Natural = 0
    decoding: Literal["nested", "greedy", "optimal"] = "greedy"

    @property
    def needs(self) -> Needs:
        """A width, if the recipe gives none; a span without a mention may have a type that is
        not annotated.
        """
        return replace(super().needs, width=not self.width, masks=True)


class SpanSettings(SpanHeadSettings, frozen=True, kw_only=True, tag="span"):
    """A linear layer over the vector of a span.

    SpanPred is *comparing-and-combining* §4.3, SpanNER *bundling-learning* §3.1.3.

    Attributes:
        representation: content of the vector: ``"boundary"`` (first and last unit), ``"pooling"``
            (maximum over the units, and the whole text), ``"hybrid"`` (all of these); each with the
            width embedding, if there is one.
    """

    representation: Literal["boundary", "pooling", "hybrid"] = "boundary"


class BiaffineSettings(SpanHeadSettings, frozen=True, kw_only=True, tag="biaffine"):
    """A bilinear form of the first and the last unit (Yu et al. 2020).

    Attributes:
        hidden: size of the two layers before the form.
    """

    hidden: Annotated[int, Meta(ge=1, le=4096)] = 150


class BinderSettings(HeadSettings, frozen=True, kw_only=True, tag="binder"):
    """Spans are compared with vectors of the types, which an encoder makes from their descriptions
    (*binder*).

    A unit begins with the state of its first piece and ends with that of its last, so no pooling is
    needed.

    Attributes:
        dropout: probability of dropping a component of a projected vector, before it is brought to
            norm 1.
        hidden: size of the vectors that are compared.
        width_embedding: size of a learnt vector for each width in pieces; 0 for none.
        width: most pieces in a mention at inference; training knows no limit.
        shared: one linear layer for starts, ends and both ends of a span, and one for the types
            (Table 4).
        positions: learn starts and ends beside spans (Table 4: *no position-based objectives* is
            ``false``).
        inference: ``"span"``: the score of the span decides; ``"joint"``: the scores of its start
            and end must also reach their thresholds (Algorithm 1).
        thresholds: threshold of a score: ``"dynamic"``, the score of the whole text; ``"global"``,
            one learnt number per type; ``"dev"``, one number that is fitted on dev (Table 6);
            ``"dev-by-type"``, one for each type.
        decoding: ``"nested"`` (every span is decided alone), or ``"greedy"``: without overlaps, the
            highest score first (Algorithm 1).
        merge: score of a span that lies in several windows of a long text: that of the window that
            keeps its ``"middle"``, or the ``"maximum"`` over the windows that propose it, as in the
            authors' program.
        types: TOML file that describes the types, see ``settings/types.py``; paths are resolved
            like those of corpora.
        type_view: representation of a type (Table 5). From that file: its ``"description"``, its
            ``"keyword"``, or its examples (``"instances"``: one drawn for each batch, the mean of
            the first three at inference). Without a
            file: its ``"name"`` as text, or a learnt vector (``"atomic"``).
        instances: number of instances of each type that are drawn from train, in place of a file; 0
            for none.
        type_encoder: ``"shared"``: the encoder of the text also reads the types; ``"own"``: a
            second encoder, which starts from the same checkpoint, reads them.
        type_pool: the vector of a text about a type: the state of its first special token
            (``"cls"``), or the ``"mean"`` over all its pieces.
        windows: windows of training: ``"all"``, or those with ``"mentions"``, as in the authors'
            program.
        start_weight: weight of the loss of starts (alpha).
        end_weight: weight of the loss of ends (gamma).
        span_weight: weight of the loss of spans (lambda).
        beta: share of mentions in each of these losses; the thresholds have the rest.
    """

    hidden: Annotated[int, Meta(ge=1, le=4096)] = 128
    width_embedding: Annotated[int, Meta(ge=0, le=1024)] = 128
    width: Annotated[int, Meta(ge=1, le=WIDEST)] = 30
    shared: bool = False
    positions: bool = True
    inference: Literal["span", "joint"] = "span"
    thresholds: Literal["dynamic", "global", "dev", "dev-by-type"] = "dynamic"
    decoding: Literal["nested", "greedy"] = "greedy"
    merge: Literal["middle", "maximum"] = "middle"
    types: str = ""
    type_view: Literal["description", "keyword", "instances", "name", "atomic"] = "name"
    instances: Annotated[int, Meta(ge=0, le=10_000)] = 0
    type_encoder: Literal["shared", "own"] = "shared"
    type_pool: Literal["cls", "mean"] = "cls"
    windows: Literal["all", "mentions"] = "all"
    start_weight: Rate = 0.2
    end_weight: Rate = 0.2
    span_weight: Rate = 0.6
    beta: Rate = 0.5

    def __post_init__(self) -> None:
        """Refuses combinations that mean nothing, and settings without effect."""
        super().__post_init__()
        if self.pooling != "first" or self.specials != "exclude":
            name = "pooling" if self.pooling != "first" else "specials"
            raise ValueError(
                f'{name} = "{getattr(self, name)}" is not allowed with family = "binder": leave '
                "it out"
            )
        if self.inference == "joint" and not self.positions:
            raise ValueError(
                'inference = "joint" needs positions = true: else starts and ends have no scores'
            )
        if self.inference == "joint" and self.fitted:
            raise ValueError(
                f'inference = "joint" is not allowed with thresholds = "{self.thresholds}", '
                "which is for spans only"
            )
        self._check_types()
        if not self.positions:
            self._refuse_changed("positions = false", "start_weight", "end_weight")
        if self.fitted:
            self._refuse_changed(f'thresholds = "{self.thresholds}"', "beta")

    @property
    def fitted(self) -> bool:
        """True if its thresholds are fitted on dev; the network gives none."""
        return self.thresholds in ("dev", "dev-by-type")

    @property
    def needs(self) -> Needs:
        """A special token for the whole text, and the texts that it reads about types."""
        return Needs(
            opening=True,
            types=self.types,
            drawn=self.instances,
            reads="" if self.type_view == "atomic" else self.type_view,
            fixed=self._fixed(),
            windows=self.windows,
            threshold={"dev": "one", "dev-by-type": "types"}.get(self.thresholds, ""),  # type: ignore[arg-type]
            masks=True,
        )

    def _fixed(self) -> str:
        if self.type_view == "atomic":
            return (
                'it was trained with type_view = "atomic" and reads nothing about types; '
                "train with another view"
            )
        if self.thresholds == "global":
            return (
                'it was trained with thresholds = "global", which are learnt type by type; '
                'train with "dynamic"'
            )
        if self.fitted:
            how = f'it was trained with thresholds = "{self.thresholds}"'
            return f'{how}, fitted for its own types; train with "dynamic"'
        return ""

    def _check_types(self) -> None:
        view = f'type_view = "{self.type_view}"'
        self._check_instances()
        if self.type_view in FILE_VIEWS and not self.types and not self.instances:
            raise ValueError(f"{view} needs a file of descriptions: give its path as types")
        if self.type_view not in FILE_VIEWS and self.types:
            allowed = ", ".join(f'"{name}"' for name in FILE_VIEWS)
            raise ValueError(
                f"types = {self.types!r} is not read with {view}: choose one of {allowed}, or "
                "leave it out"
            )
        if self.type_view == "atomic":
            self._refuse_changed(view, "type_encoder", "type_pool")
        if self.type_view == "instances":
            self._refuse_changed(view, "type_pool")

    def _check_instances(self) -> None:
        if not self.instances:
            return
        setting = f"instances = {self.instances}"
        if self.type_view != "instances":
            raise ValueError(
                f'{setting} has no effect with type_view = "{self.type_view}": leave it out'
            )
        if self.instances < FEWEST_INSTANCES:
            raise ValueError(
                f"{setting} is not allowed, for {FEWEST_INSTANCES} are read of each type: draw more"
            )
        if self.types:
            raise ValueError(
                f"{setting} and types = {self.types!r} exclude each other: draw instances, or name "
                "a file"
            )


AnyHead = (
    SoftmaxSettings
    | CrfSettings
    | MultiLabelSettings
    | SpanSettings
    | BiaffineSettings
    | BinderSettings
)

HEADS: dict[str, type[HeadSettings]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(AnyHead)
}


def with_decoding(head: AnyHead, *, decoding: str) -> AnyHead:
    """Returns the settings of a head with another decoding.

    Raises:
        msgspec.ValidationError: a decoding that the family does not have.
    """
    return msgspec.convert({**msgspec.to_builtins(head), "decoding": decoding}, type(head))
