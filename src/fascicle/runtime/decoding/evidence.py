"""Evidence on mentions from outside the network: longer names of a pack, formulas, variants and
genotypes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

import msgspec

from fascicle.core.document import Document, Event, Mention, Patch, in_order
from fascicle.core.lexicon import lexicon
from fascicle.core.mention import PlacedSpans, Span, contains
from fascicle.core.wording import plural
from fascicle.runtime.decoding.formulas import find_formulas, with_formulas
from fascicle.runtime.decoding.measures import without_measures
from fascicle.runtime.decoding.numbers import without_numbers
from fascicle.runtime.decoding.retyping import with_own_types
from fascicle.runtime.decoding.tails import all_forms, without_tails
from fascicle.settings.decision import DocumentDecision
from fascicle.terms.abbreviations.finder import abbreviations_of
from fascicle.terms.variant_recogniser import VariantRecogniser

FindTypes = Callable[[Collection[str]], Mapping[str, str]]
"""The type of each name, of those that mean one type alone."""
_CHEMICAL: Final = "Chemical"
_WORDS: Final = 3  # before and behind a mention, among which a longer name is sought
_REACH: Final = 60  # characters
_BREAK: Final = re.compile(r"[()\[\]{};:,/\n]|\.(?=\s|\Z)")
_WORD: Final = re.compile(r"[^\s/]+")
# no symbol of a gene is written so: CCl4 is not Ccl4
_ELEMENTS: Final = re.compile(r"[A-Z].*[A-Z][a-z]")
_ALLELES: Final = re.compile(r"(?:[ACGT]{1,2}|[ID]{1,2}|[Aa]{2}|[Bb]{2})(?:/(?:[ACGT]{1,2}|[ID]))?")
_OF_ALLELES: Final = re.compile(
    r"\s*(?:genotype|allele|homozygo|heterozygo|carrier|polymorphism|haplotype)", re.IGNORECASE
)
_DISEASE: Final = "Disease"
_GENE: Final = "Gene"
_SPECIES: Final = "Species"
# a capital or a digit that is not there because a sentence begins with it
_PROPER: Final = re.compile(r"(?<=\S)[A-Z\d]|(?<=[^\s.:;!?]\s)[A-Z\d]")
_SUBTYPE: Final = re.compile(r"(?:\S+\s)?[\w/]+-(?:negative|positive)\s")
_BEHIND_SPECIES: Final = re.compile(
    r"[^\S\n]((?=[\w-]*[A-Z0-9])[A-Za-z][\w-]*\w)(?![\w-])"
    r"(?!\s(?:tissue|neuron|scan|slice|nucle(?:us|i)\b))"  # of anatomy: rat SON neurons
)
# of a gene that no network has marked: known names of it stay, and none is marked elsewhere
_SCORE: Final = 0.64
# insulin, the most frequent of genes with "ins", is in no variant, and these are slow to find
_VARIANT: Final = re.compile(
    r"(?:[cgp]\.)?[A-Z][a-z]{0,2}\d{1,4}(?:[A-Z*][a-z]{0,2}|fs\w*)|rs\d+"
    r"|(?!insulin).*(?:>|del|ins|dup).*"
)
_BLOOD: Final = re.compile(r"(?:ABO|AB|[ABO][12]?|Rh[DdEeCc]?)[+-]?")
_BEFORE_BLOOD: Final = re.compile(r"blood (?:group|type)s?\s\Z")
_BEHIND_BLOOD: Final = re.compile(r"\s?\(?blood (?:group|type)")


class Text(NamedTuple):
    """A text with its mentions, and what a pack is asked about it.

    Attributes:
        text: with plain characters.
        mentions: of a network.
        longer: index of a mention -> ranges of words around it that may be one name.
        formulas: ranges of formulas.
        symbols: ranges of words behind species that may be genes, in no mention.
    """

    text: str
    mentions: Sequence[Mention]
    longer: Mapping[int, Sequence[Span]]
    formulas: Sequence[Span]
    symbols: Sequence[Span]

    @property
    def names(self) -> Iterator[str]:
        """What the pack is asked for."""
        return (
            self.text[slice(*span)]
            for spans in (*self.longer.values(), self.formulas, self.symbols)
            for span in spans
        )


def with_evidence(
    documents: Sequence[Document],
    patches: Sequence[Patch],
    rules: DocumentDecision,
    *,
    texts: Sequence[str],
    knows: FindTypes,
    source: str = "",
) -> list[Patch]:
    """Returns answers after what the pack and the writing of names say of their mentions.

    A mention that is no name by itself becomes the longest name of its type in the pack that holds
    it, such as ``virus`` in ``hepatitis B virus``; so does a disease behind what is part of its
    name, such as ``swine fever`` in ``African swine fever``. A name goes on with no variant or
    strain that the pack lacks (see `without_tails`), nor with a number (see `without_numbers`). A
    name that means another type may take it (see `with_own_types`). A formula is a chemical. A
    variant, a genotype, a blood group or a measurement (see `without_measures`) is no gene. A
    symbol of genes alone behind a species is one: ``human BID``, unless the text defines it as
    something else or writes the species in capitals.

    Args:
        documents: that were read.
        patches: the answer for each.
        rules: of the model; without a pack nothing changes.
        texts: of the documents, see `fascicle.text.borders.without_wraps`, with plain characters.
        knows: is asked up to three times, for names of all documents.
        source: of formulas and genes that are added; that of the other mentions by default.
    """
    if not rules.pack:
        return list(patches)
    patches = without_numbers(texts, patches, knows=knows)
    patches, parts, own_types = _cut(texts, patches, rules, knows)
    evidence = [
        _gather(text, patch, names, types=own_types, rules=rules, document=document)
        for text, patch, names, document in zip(texts, patches, parts, documents, strict=True)
    ]
    types = {**own_types, **_look_up(knows, (name for own in evidence for name in own.names))}
    return [
        _apply(own, patch, types, rules, source=source)
        for own, patch in zip(evidence, patches, strict=True)
    ]


def _look_up(knows: FindTypes, names: Iterable[str]) -> Mapping[str, str]:
    distinct = set(names)
    return knows(distinct) if distinct else {}


def _cut(
    texts: Sequence[str], patches: Sequence[Patch], rules: DocumentDecision, knows: FindTypes
) -> tuple[list[Patch], list[dict[int, str]], Mapping[str, str]]:
    """Returns answers without the tails of names, the names of each that may stay, by the indices
    of their mentions, and the types of the names.
    """
    pairs = [
        (patch, _may_be_parts(text, patch.add, rules))
        for text, patch in zip(texts, patches, strict=True)
    ]
    forms = (
        all_forms(patch.add, names, text) for text, (patch, names) in zip(texts, pairs, strict=True)
    )
    types = _look_up(knows, chain.from_iterable(forms))
    answers, parts = list[Patch](), list[dict[int, str]]()
    for text, (patch, names) in zip(texts, pairs, strict=True):
        add = without_tails(patch.add, names, types, text=text)
        is_same = add == patch.add
        answers.append(patch if is_same else msgspec.structs.replace(patch, add=add))
        parts.append(names if is_same else _may_be_parts(text, add, rules))
    return answers, parts, types


def _may_be_parts(
    text: str, mentions: Sequence[Mention], rules: DocumentDecision
) -> dict[int, str]:
    """Returns the names of the mentions that may stay, by their indices."""
    least = {kind: min(rule.low, rule.alone, rule.known) for kind, rule in rules.types.items()}
    return {
        at: text[mention.start : mention.end]
        for at, mention in enumerate(mentions)
        if len(mention.spans) == 1
        and mention.type in least
        and (mention.score is None or mention.score >= least[mention.type])
    }


def _gather(
    text: str,
    patch: Patch,
    parts: Mapping[int, str],
    *,
    types: Mapping[str, str],
    rules: DocumentDecision,
    document: Document,
) -> Text:
    longer = {
        at: _longer(text, patch.add[at], is_name=types.get(name) == patch.add[at].type)
        for at, name in parts.items()
    }
    formulas = list(find_formulas(text)) if _CHEMICAL in rules.types else []
    symbols = list(_behind_species(text, patch.add)) if _GENE in rules.types else []
    symbols = _without_defined(symbols, document, patch.add)
    return Text(text=text, mentions=patch.add, longer=longer, formulas=formulas, symbols=symbols)


def _longer(text: str, mention: Mention, *, is_name: bool) -> list[Span]:
    """Returns the ranges of words around a mention that may be one name.

    A name by itself is a part of none, except before the head of a species and behind the first
    word of a disease.
    """
    if is_name and mention.type not in (_SPECIES, _DISEASE):
        return []
    spans = _around(text, mention.spans[0])
    if is_name and mention.type == _SPECIES:
        return [span for span in spans if span[1] > mention.end]
    return [span for span in spans if not is_name or _begins_disease(text, span, mention)]


def _begins_disease(text: str, span: Span, mention: Mention) -> bool:
    """True if the words before a disease are a proper name, a subtype or what causes it:
    ``African`` of swine fever, ``triple-negative`` of breast cancer, ``lead`` of poisoning.
    """
    start, end = mention.spans[0]
    return span[1] == end and (
        _PROPER.search(text, span[0], start) is not None
        or _SUBTYPE.fullmatch(text, span[0], start) is not None
        or text[start:end].lower() in lexicon("diseases")["caused"]
    )


def _behind_species(text: str, mentions: Sequence[Mention]) -> Iterator[Span]:
    """Yields the ranges of words behind species that are written as symbols, in no mention."""
    marked_places = PlacedSpans([span for mention in mentions for span in mention.spans])
    for mention in mentions:
        match = _BEHIND_SPECIES.match(text, mention.end) if mention.type == _SPECIES else None
        is_capital = text[mention.start : mention.end].isupper()
        if match and not is_capital and not marked_places.overlapping(match.span(1)):
            yield match.span(1)


def _without_defined(
    symbols: list[Span], document: Document, mentions: Sequence[Mention]
) -> list[Span]:
    """Returns the symbols without short forms of what is no gene: ``supraoptic nucleus (SON)``."""
    if not symbols:
        return symbols
    text = document.text
    genes = PlacedSpans(span for m in mentions if m.type == _GENE for span in m.spans)
    defined = {
        text[slice(*short)]
        for short, long in abbreviations_of(document)
        if not genes.overlapping(long)
    }
    return [span for span in symbols if text[slice(*span)] not in defined]


def _apply(
    evidence: Text,
    patch: Patch,
    types: Mapping[str, str],
    rules: DocumentDecision,
    *,
    source: str,
) -> Patch:
    mentions, events = _retyped(evidence, patch, types, rules)
    formulas = [
        span for span in evidence.formulas if _is_chemical(evidence.text[slice(*span)], types)
    ]
    name = source or next((mention.source for mention in mentions), "")
    if formulas and name:
        mentions = with_formulas(mentions, formulas, source=name)
    mentions += [
        Mention((span,), _GENE, score=_SCORE, source=name)
        for span in evidence.symbols
        if types.get(evidence.text[slice(*span)]) == _GENE
    ]
    return (
        patch
        if mentions == list(patch.add)
        else msgspec.structs.replace(patch, add=in_order(mentions), events=events)
    )


def _retyped(
    evidence: Text, patch: Patch, types: Mapping[str, str], rules: DocumentDecision
) -> tuple[list[Mention], tuple[Event, ...]]:
    """Returns the mentions with longer names and with types of the pack, and the events."""
    text = evidence.text
    before = without_measures(text, _without_variants(text, _widen(evidence, types)))
    names = _may_be_parts(text, before, rules)
    mentions = with_own_types(before, names, types, allowed=rules.types, text=text)
    changed = 0 if mentions is before else len(set(before) - set(mentions))
    return mentions, (*patch.events, _changed_types(changed)) if changed else patch.events


def _changed_types(count: int) -> Event:
    message = (
        f"{plural(count, 'mention')} took another type from the term pack, or went as no names"
    )
    return Event(step="document", kind="note", code="types-of-the-pack", message=message)


def _is_chemical(formula: str, types: Mapping[str, str]) -> bool:
    kind = types.get(formula, _CHEMICAL)
    return kind == _CHEMICAL or (kind == _GENE and bool(_ELEMENTS.match(formula)))


def _around(text: str, span: Span) -> list[Span]:
    """Returns the ranges of whole words of one phrase that hold a range and more."""
    start, end = span
    first, last = max(0, start - _REACH), min(len(text), end + _REACH)
    floor = max((match.end() for match in _BREAK.finditer(text, first, start)), default=first)
    stop = _BREAK.search(text, end, last)
    starts = [match.start() for match in _WORD.finditer(text, floor, start)][-_WORDS:]
    ends = [match.end() for match in _WORD.finditer(text, end, stop.start() if stop else last)][
        :_WORDS
    ]
    whole_starts = [at for at in {start, *starts} if _is_border(text, at, at - 1)]
    whole_ends = [at for at in {end, *ends} if _is_border(text, at - 1, at)]
    return [
        (first, last)
        for first in whole_starts
        for last in whole_ends
        if (first, last) != span and not text.endswith("'s", first, last)  # a possessive
    ]


def _is_border(text: str, inside: int, beside: int) -> bool:
    """True if a letter or digit is at the first place, and none at the one beside it."""
    return text[inside].isalnum() and not (0 <= beside < len(text) and text[beside].isalnum())


def _widen(evidence: Text, types: Mapping[str, str]) -> list[Mention]:
    """Returns the mentions, of which parts of a longer name have become that name."""
    wholes: dict[tuple[str, Span], Mention] = {}
    for at, spans in evidence.longer.items():
        mention = evidence.mentions[at]
        names = [span for span in spans if types.get(evidence.text[slice(*span)]) == mention.type]
        if names:
            span = max(names, key=lambda pair: pair[1] - pair[0])
            before = wholes.get((mention.type, span), mention)
            best = max(
                before, mention, key=lambda other: 1.0 if other.score is None else other.score
            )
            wholes[mention.type, span] = msgspec.structs.replace(best, spans=(span,))
    rest = [mention for mention in evidence.mentions if not _is_in(mention, wholes)]
    return [*rest, *wholes.values()]


def _is_in(mention: Mention, wholes: Collection[tuple[str, Span]]) -> bool:
    return any(kind == mention.type and contains(span, mention.spans[0]) for kind, span in wholes)


def _without_variants(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Returns the mentions without genes that are variants, genotypes or blood groups."""
    genes = [mention for mention in mentions if mention.type == _GENE and len(mention.spans) == 1]
    variants = list[Span]()
    if any(_VARIANT.fullmatch(text, *mention.spans[0]) for mention in genes):
        (answer,) = VariantRecogniser().predict([Document(id="", text=text)])
        variants = [mention.spans[0] for mention in answer.add]
    wrong = {
        mention
        for mention in genes
        if _is_allele(text, mention) or any(contains(span, mention.spans[0]) for span in variants)
    }
    if not wrong:
        return list(mentions)
    return [mention for mention in mentions if mention not in wrong]


def _is_allele(text: str, mention: Mention) -> bool:
    start, end = mention.spans[0]
    if _ALLELES.fullmatch(text, start, end):
        return _OF_ALLELES.match(text, end) is not None
    is_blood = _BLOOD.fullmatch(text, start, end) is not None
    return is_blood and bool(
        _BEFORE_BLOOD.search(text[max(0, start - 13) : start]) or _BEHIND_BLOOD.match(text, end)
    )
