"""Term packs as a predictor: names in texts with types and probabilities, and links if they are
unambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from operator import is_not
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import numpy as np

from fascicle.core.arrays import Ints, int_array
from fascicle.core.document import Document, Event, Patch
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Link, Mention, Span
from fascicle.core.stream import portions
from fascicle.core.wording import near_hint
from fascicle.errors import UsageError
from fascicle.settings.inputs import RecognitionSettings
from fascicle.terms.composed import ComposedName, ComposedNames, add_composed, choose_composed
from fascicle.terms.defining import apply_definitions
from fascicle.terms.keys.characters import case_fits
from fascicle.terms.keys.key import TokenArrays, TokenReader, key
from fascicle.terms.overlaps import (
    Edges,
    Meaning,
    Occurrence,
    hyphens_allow,
    resolve_overlaps,
    slices_by_document,
)
from fascicle.terms.pack.carried import AnyPack
from fascicle.terms.pack.layout import damage_errors
from fascicle.terms.terms import ShortTerm
from fascicle.text.annotator import Annotator, TagSpace
from fascicle.text.characters import raised_digits, with_blank_marks, with_raised_names
from fascicle.text.segment import segmenter

_RAISED_DIGIT: Final = re.compile(rb"\xc2[\xb2\xb3\xb9]|\xe2\x81[\xb0\xb4-\xb9]")  # in UTF-8
_NEAR: Final = 80  # characters: a name has no more on either side of raised digits
_SOURCE: Final = "dictionary"
_TIERS: Final = ("exact", "folded", "canonical")
_REMEMBERED: Final = 1 << 15  # keys whose names are cached, and surfaces whose meanings are
PORTION: Final = 1 << 19  # characters of text that are read together
_LISTED: Final = 20  # types that a sentence names
_DIGITS: Final = 6  # of a score; what a float of four bytes has
_PARAGRAPH: Final = re.compile(r"\n\s*\n")


class _Name(NamedTuple):
    """Term that may be meant."""

    term: ShortTerm
    type: str
    folded: str
    concept_row: int


class _Opened:
    """Pack with its table, and a cache of the names that were used."""

    def __init__(self, source: str, pack: AnyPack, settings: RecognitionSettings) -> None:
        self.source, self.pack, self.settings = source, pack, settings
        self.table = pack.open_table()
        self.composed = ComposedNames.of(pack)
        self._damage = partial(damage_errors, Path(pack.table).parent)
        self._names: dict[int, tuple[_Name, ...]] = {}
        self.meanings = lru_cache(maxsize=_REMEMBERED)(self._judge)

    def find_keys(self, tokens: TokenArrays) -> tuple[Ints, Ints, Ints]:
        """Returns starts, ends and rows of the keys that may reach the threshold, in order.

        Raises:
            PackError: values of the pack lead out of its files.
        """
        with self._damage():
            hits = self.table.find(tokens, inside_words=self.settings.inside_words)
            rows, which = np.unique(hits.rows, return_inverse=True)
            places, terms = self.pack.active.of_key_rows(rows)
            total = np.bincount(places, weights=self.pack.active.prior[terms], minlength=len(rows))
            likely = total.round(_DIGITS) >= self.settings.threshold
            self._learn(rows[likely].tolist())
        likely = likely[which]
        return tokens.starts[hits.first[likely]], tokens.ends[hits.last[likely]], hits.rows[likely]

    @cached_property
    def has_raised(self) -> bool:
        """Whether some name has raised digits."""
        return self.pack.active.surfaces.has_match(_RAISED_DIGIT)

    def is_raised(self, surface: str, row: int) -> bool:
        """True if a surface has the raised digits of a name of a key, and some."""
        digits = raised_digits(surface)
        return digits != "" and any(
            raised_digits(name.term.surface) == digits for name in self._names[row]
        )

    def _learn(self, rows: Sequence[int]) -> None:
        """Reads the names of keys that may be meant, unless they are cached."""
        if len(self._names) + len(rows) > _REMEMBERED:
            self._names.clear()
        if new := [row for row in rows if row not in self._names]:
            self._add(new)

    def _add(self, new: Sequence[int]) -> None:
        names_by_key: list[list[_Name]] = [[] for _ in new]
        for place, name in self._read_names(new):
            names_by_key[place].append(name)
        self._names.update(zip(new, map(tuple, names_by_key), strict=True))

    def meanings_of(self, rows: Sequence[int]) -> list[Meaning]:
        """Returns the meanings of the names of keys, as if each were in the text as it is written.

        Args:
            rows: of the keys.
        """
        if new := [row for row in rows if row not in self._names]:
            self._add(new)  # without forgetting those of the text
        names = [(names[0].term.surface, row) for row in rows if (names := self._names[row])]
        return [meaning for surface, row in names for meaning in self.meanings(surface, row)]

    def _read_names(self, rows: Sequence[int]) -> Iterator[tuple[int, _Name]]:
        """Yields the names of keys that are looked for, each with the place of its key among the
        rows.
        """
        places, terms = self.pack.active.of_key_rows(int_array(rows))
        concepts = self.pack.active.concept[terms].astype(np.int64)
        types = map(self.pack.types.__getitem__, self.pack.type_rows[concepts].tolist())
        columns = (places.tolist(), self.pack.short_terms(terms), types, concepts.tolist())
        for place, term, kind, concept in zip(*columns, strict=True):
            if not term.off and (not self.settings.types or kind in self.settings.types):
                yield place, _Name(term, kind, key(term.surface, 1), concept)

    def _judge(self, surface: str, row: int) -> tuple[Meaning, ...]:
        """Returns the meanings of a key for a surface: one for each type, the most probable one
        first.
        """
        by_type: dict[str, list[_Name]] = {}
        for name in self._names[row]:
            if not self.settings.case or case_fits(surface, name.term.surface, name.term.case):
                by_type.setdefault(name.type, []).append(name)
        meanings = []
        for kind, names in by_type.items():
            score = _score(_concept_priors(names))
            if score >= self.settings.threshold:
                links = self._links(surface, names) if self.settings.links else ()
                meanings.append(Meaning(kind, score, links))
        return tuple(sorted(meanings, key=lambda meaning: (-meaning.score, meaning.type)))

    def _links(self, surface: str, names: Sequence[_Name]) -> tuple[Link, ...]:
        """Returns the concept whose name is nearest to the surface in the text, if there is one."""
        simple = key(surface, 1)
        tiers = [
            0 if name.term.surface == surface else 1 if name.folded == simple else 2
            for name in names
        ]
        tier = min(tiers)
        priors = _concept_priors(
            [name for name, other in zip(names, tiers, strict=True) if other == tier]
        )
        with self._damage():
            (curie, label, same), *other_answers = map(self.pack.answer_at, priors)
        if any(answer[0] != curie for answer in other_answers):
            return ()
        prefix, _, local = curie.partition(":")
        link = Link(
            id=local,
            ontology=prefix,
            name=label,
            score=_score(priors),
            tier=_TIERS[tier],
            curie=curie,
            same=same,
        )
        return (link,)


def _concept_priors(names: Iterable[_Name]) -> dict[int, float]:
    """Returns the row of each concept -> the prior of its most probable name."""
    priors: dict[int, float] = {}
    for name in names:
        priors[name.concept_row] = max(priors.get(name.concept_row, 0.0), name.term.prior)
    return priors


def _score(priors: Mapping[int, float]) -> float:
    return round(min(1.0, sum(priors.values())), _DIGITS)


class PackRecogniser(Annotator):
    """Term packs as one predictor; the mentions of each pack have a source of their own.

    A match begins and ends with a word, or with a part of one at a hyphen, and does not reach over
    an empty line, nor over the end of a sentence, of the document or else of the segmenter. The
    score of a mention is the sum of the priors of the concepts of its type that have the name. A
    short form means what the text defines it by, see `apply_definitions`.
    """

    gives = frozenset({"mentions", "links"})
    name = _SOURCE
    tag_space = TagSpace(meaning="none")  # a prior is no distribution over types

    def __init__(
        self,
        packs: Mapping[str, AnyPack],
        *,
        settings: RecognitionSettings | None = None,
        name: str = "",
    ) -> None:
        """Opens the tables of the packs.

        Args:
            packs: by the source of their mentions.
            settings: the same for all.
            name: of the predictor; that of the only source by default, else ``"dictionary"``.

        Raises:
            UsageError: no pack, or types that no pack has.
            FormatError: a table of another version.
        """
        if not packs:
            raise UsageError(
                "no pack was given; give at least one, under the name of the source of its mentions"
            )
        self.settings = settings or RecognitionSettings()
        self.packs = tuple(packs.values())
        self.name = name or (next(iter(packs)) if len(packs) == 1 else _SOURCE)
        available = sorted({kind for pack in self.packs for kind in pack.types if kind})
        if unknown := [kind for kind in self.settings.types if kind not in available]:
            raise UsageError(
                f"{self.name} has no names of the type "
                f"{unknown[0]!r}{near_hint(unknown[0], available)}; its types are "
                f"{', '.join(available[:_LISTED])}{', ...' if len(available) > _LISTED else ''}"
            )
        self._packs = [_Opened(source, pack, self.settings) for source, pack in packs.items()]
        self._reader = TokenReader()
        self._rules = segmenter(self.segmenter)

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources, one for each pack."""
        return tuple(opened.source for opened in self._packs)

    @property
    def types(self) -> tuple[str, ...]:
        """All types that are searched, sorted."""
        types = {kind for pack in self.packs for kind in pack.types if kind}
        return tuple(sorted(types & set(self.settings.types) if self.settings.types else types))

    @property
    def kind(self) -> str:
        """Kind of the finder: one or several term packs."""
        return "term pack" if len(self._packs) == 1 else f"term packs {', '.join(self.sources)}"

    @property
    def fingerprint(self) -> str:
        """Packs by their content, and the settings."""
        packs = " ".join(f"{opened.source}={opened.pack.full_name}" for opened in self._packs)
        return f"{self.name} {packs} {msgspec.json.encode(self.settings).decode()}"

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns mentions of each document, in the order of the packs and then of the text.

        Args:
            documents: stay as they are.
        """
        return [
            patch
            for chunk in portions(documents, characters=PORTION)
            for patch in self._predict_chunk(chunk)
        ]

    def _predict_chunk(self, documents: Sequence[Document]) -> Iterator[Patch]:
        documents = self._with_blank_marks(documents)
        tokens = self._reader.read([document.text for document in documents])
        mentions: list[list[Mention]] = [[] for _ in documents]
        events: list[tuple[Event, ...]] = [()] * len(documents)
        for pack in self._packs:
            links: list[list[Link]] = []
            for number, new in enumerate(self._mentions(pack, tokens, documents)):
                mentions[number] += new
                links.append([link for mention in new for link in mention.links])
            origins = pack.pack.origins(links, step=pack.source)
            events = [before + more for before, more in zip(events, origins, strict=True)]
        for add, notes in zip(mentions, events, strict=True):
            yield Patch(add=tuple(add), events=notes)

    def _with_blank_marks(self, documents: Sequence[Document]) -> list[Document]:
        blank = with_blank_marks(documents)
        has_marks = any(map(is_not, blank, documents))
        if not has_marks or not any(pack.has_raised for pack in self._packs):
            return blank
        return with_raised_names(blank, documents, self._raised_names, near=_NEAR)

    def _raised_names(self, documents: Sequence[Document]) -> list[list[Span]]:
        """Returns the places of names that have raised digits of their own in each document."""
        names: list[list[Span]] = [[] for _ in documents]
        tokens = self._reader.read([document.text for document in documents])
        for pack in self._packs:
            for at, hits in enumerate(self._hits(pack, tokens, documents)):
                text = documents[at].text
                raised = (hit for hit in hits if pack.is_raised(text[slice(*hit[0])], hit[1]))
                places = self._places(pack, documents[at], raised)
                names[at] += [(place.start, place.end) for place in places]
        return names

    def _hits(
        self, pack: _Opened, tokens: TokenArrays, documents: Sequence[Document]
    ) -> Iterator[list[tuple[Span, int]]]:
        """Yields the places of the keys of one pack in each document, with their rows."""
        starts, ends, rows = pack.find_keys(tokens)
        for part, offset in slices_by_document(documents, starts):
            spans = zip(
                (starts[part] - offset).tolist(), (ends[part] - offset).tolist(), strict=True
            )
            yield list(zip(spans, rows[part].tolist(), strict=True))

    def _mentions(
        self, pack: _Opened, tokens: TokenArrays, documents: Sequence[Document]
    ) -> Iterator[list[Mention]]:
        """Yields the mentions of one pack in each document."""
        parts = self._hits(pack, tokens, documents)
        composed = pack.composed.find(tokens, documents) if pack.composed else {}
        for number, (document, hits) in enumerate(zip(documents, parts, strict=True)):
            places = apply_definitions(document, list(self._places(pack, document, hits)))
            mentions = [
                Mention(
                    ((place.start, place.end),),
                    meaning.type,
                    score=meaning.score,
                    source=pack.source,
                    links=meaning.links,
                )
                for place, meaning in resolve_overlaps(places, self.settings.overlaps)
            ]
            if names := composed.get(number):
                self._add_composed(pack, document, names, mentions)
            yield mentions

    def _add_composed(
        self,
        pack: _Opened,
        document: Document,
        names: Sequence[ComposedName],
        mentions: list[Mention],
    ) -> None:
        names_meant = choose_composed(document.text, names, Edges(document, self._rules))
        longest = self.settings.overlaps == "longest"
        add_composed(mentions, names_meant, pack.meanings_of, source=pack.source, longest=longest)

    def _places(
        self, pack: _Opened, document: Document, hits: Iterable[tuple[Span, int]]
    ) -> Iterator[Occurrence]:
        text, edges = document.text, Edges(document, self._rules)
        for (start, end), row in hits:
            if not hyphens_allow(text, start, end, self.settings.hyphens):
                continue
            surface = text[start:end]
            if "\n" in surface and _PARAGRAPH.search(surface):
                continue
            if (meanings := pack.meanings(surface, row)) and not edges.part(start, end):
                yield Occurrence(start, end, meanings)
