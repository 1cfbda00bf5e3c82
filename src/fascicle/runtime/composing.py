"""Composition: the one place that knows in which order choices are applied to a model.

The order is that of `compose`: rule for ends and hidden types, own names, kept types and scores,
links, sequence variants, facts, relations. A linker leaves the links of own lists and of variants
as they are, whatever the ontology. `fascicle.runtime.settling` decides between own names
and mentions that overlap them. Each choice wraps what is before it, see
`fascicle.runtime.wrapped.WrappedPredictor`; `fascicle.text.annotator.Annotator.parts` lists the
result from the model outwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from fascicle.settings.choices import Choices
from fascicle.settings.folders.vocabularies import AUTO
from fascicle.text.annotator import Annotator

if TYPE_CHECKING:
    from fascicle.linking.opening import LinkerWithPacks
    from fascicle.runtime.choice import Confirm
    from fascicle.runtime.relations import RelationFinder
    from fascicle.runtime.wrapped import ChooseLinks


@dataclass(frozen=True, kw_only=True)
class HeldLinks:
    """What an output holds of links.

    Attributes:
        any: whether it holds links; if not, ``link = "auto"`` links nothing but for relations.
        keep: returns the links of a mention without the facts that it does not hold; ``None`` for
            whole links.
    """

    any: bool = True
    keep: ChooseLinks | None = None


ALL_LINKS = HeldLinks()


def compose(
    model: Annotator,
    choices: Choices,
    *,
    names: Sequence[Annotator] = (),
    open_second: Callable[[str], Annotator] | None = None,
    open_relations: Callable[[str], RelationFinder] | None = None,
    output: HeldLinks = ALL_LINKS,
) -> Annotator:
    """Applies the choices of a user to a model.

    Args:
        model: finds the mentions, with those types too that it keeps apart.
        choices: what is wanted; ``also``, ``case``, ``types`` and ``nested`` were applied when the
            model and the names were opened.
        names: the opened ``choices.also``.
        open_second: opens the model that confirms the types ``choices.careful``.
        open_relations: opens ``choices.relations``.
        output: what it holds of links.

    Returns:
        The model itself if nothing is chosen.

    Raises:
        UsageError: a choice that the model does not have; see
            `fascicle.runtime.choice.filter_answers` and `fascicle.runtime.wrapped.add_links`.
        PackError: a linker that cannot be opened.
        RecipeError: cues that cannot be read.
    """
    confirm: Confirm | None = None
    if choices.careful and open_second:
        from fascicle.runtime.agreeing import confirm_types

        confirm = partial(confirm_types, types=choices.careful, open_model=open_second)
    predictor = _filter(model, choices, names, confirm)
    predictor = _link(predictor, choices, output)
    predictor = _add_variants(predictor, choices, output)
    if choices.assertions:
        from fascicle.runtime.asserted import add_assertions

        predictor = add_assertions(predictor, choices.assertions)
    if choices.relations and open_relations:
        from fascicle.runtime.related import RelatedPredictor

        predictor = RelatedPredictor(predictor, open_relations(choices.relations))
    return predictor


def _filter(
    model: Annotator, choices: Choices, names: Sequence[Annotator], confirm: Confirm | None
) -> Annotator:
    changes = choices.ends or choices.only or choices.threshold
    if not (names or confirm or changes or model.apart):
        return model
    from fascicle.runtime.choice import filter_answers

    beside: tuple[str, ...] = ()
    if choices.variants:
        from fascicle.terms.variant_recogniser import TYPE

        beside = (TYPE,)
    return filter_answers(
        model,
        also=names,
        confirm=confirm,
        ends=choices.ends,
        only=choices.only,
        threshold=choices.threshold,
        beside=beside,
    )


def _link(predictor: Annotator, choices: Choices, output: HeldLinks) -> Annotator:
    from fascicle.runtime.wrapped import add_links, keep_all_links

    if not _asks_for_links(choices, output):
        return predictor
    # Whole links are those that a user asked for by name, and those that relations need.
    whole = choices.ontology or choices.linkers or not output.any
    keep = keep_all_links if whole else output.keep or keep_all_links
    return add_links(predictor, choices.link or None, ontology=choices.ontology, keep=keep)


def _asks_for_links(choices: Choices, output: HeldLinks) -> bool:
    by_default = choices.link == AUTO and choices.links and (output.any or choices.relations)
    return bool(choices.ontology or choices.linkers or by_default)


def choose_linker(predictor: Annotator, choices: Choices) -> LinkerWithPacks | None:
    """Returns the linker by which `compose` would link all mentions of a predictor; ``None`` for
    no linker.

    Args:
        predictor: before variants and facts, see `linked_part`.
        choices: of the user.

    Raises:
        UsageError, PackError: see `fascicle.runtime.wrapped.add_links`.
    """
    from fascicle.runtime.wrapped import find_linker

    if not _asks_for_links(choices, ALL_LINKS):
        return None
    return find_linker(predictor, choices.link or None, ontology=choices.ontology)


def linked_part(predictor: Annotator) -> Annotator:
    """Returns the part of a composition without links that `compose` would link: all but variants
    and facts, which stand behind the links.
    """
    from fascicle.runtime.wrapped import WrappedPredictor

    *before, part = predictor.parts
    while isinstance(part, WrappedPredictor) and part.is_behind_links:
        part = before.pop()
    return part


def _add_variants(predictor: Annotator, choices: Choices, output: HeldLinks) -> Annotator:
    if not choices.variants:
        return predictor
    from fascicle.runtime.wrapped import JoinedPredictor, keep_all_links, keep_no_links
    from fascicle.terms.variant_recogniser import VariantRecogniser

    keep = (output.keep or keep_all_links) if choices.links else keep_no_links
    return JoinedPredictor(predictor, VariantRecogniser(), keep=keep)
