"""Any spaCy pipeline as a step: entities, sentences, and extensions as attributes of mentions.

With ``mentions_of``, the pipeline does not find names: it gets the mentions of other layers as its
entities, and what its components say of each becomes attributes. So medspaCy's ConText tells which
mentions are negated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, field

from fascicle.core.document import Document, Mention, MentionKey, Patch, unique
from fascicle.core.mention import Link, Span, parse_link
from fascicle.errors import MissingExtraError, RecipeError
from fascicle.pipeline.adapters import Adapter
from fascicle.settings.base import Name, Settings

_BLANK: Final = "blank:"
_NIL: Final = "NIL"  # of the linker of spaCy: no concept
_Placed = tuple[Mention, Span]  # with its first token, and one past the last


class SpacySettings(Settings, frozen=True, kw_only=True):
    """Settings of the step.

    Attributes:
        pipeline: name of an installed pipeline, a folder from that of the Fascicle pipeline, or
            ``"blank:en"``.
        imports: modules that register components or extensions, such as ``"medspacy.context"``.
        add: names of components that are added at the end, in order.
        disable: names of components that are not run.
        mentions_of: layers whose mentions the pipeline gets as its entities; without any, it finds
            entities itself.
        types: label of spaCy -> type; if there are any, other labels are left out.
        attributes: extensions of spans (``span._.NAME``) that become attributes of mentions.
        links: whether ``ent.kb_id_`` becomes a link.
        sentences: whether the step gives its sentences.
    """

    pipeline: Name
    imports: tuple[Name, ...] = ()
    add: tuple[Name, ...] = ()
    disable: tuple[Name, ...] = ()
    mentions_of: tuple[Name, ...] = ()
    types: dict[Name, Name] = field(default_factory=dict)
    attributes: Annotated[tuple[Name, ...], Meta(max_length=100)] = ()
    links: bool = True
    sentences: bool = False

    def __post_init__(self) -> None:
        """Refuses what does not go together."""
        if self.mentions_of and (self.types or not self.attributes):
            raise ValueError(
                "mentions_of needs attributes, and takes no types, for it changes no type"
            )


class SpacyStep(Adapter):
    """A spaCy pipeline as a step; see the module."""

    Settings = SpacySettings
    name = "spacy"
    needs: frozenset[str] = frozenset()

    def __init__(self, settings: SpacySettings, *, name: str = "spacy", folder: str = ".") -> None:
        """Loads the pipeline.

        Args:
            settings: see there.
            name: of the step, and the source of its mentions.
            folder: the folder that a relative path begins at.

        Raises:
            MissingExtraError: spaCy is not installed.
            RecipeError: a pipeline, module or component that is not there.
        """
        self._settings, self.name = settings, name
        self._nlp = _loaded(settings, folder)
        has_mentions = bool(settings.mentions_of)
        self.needs = frozenset({"mentions"}) if has_mentions else frozenset()
        gives = {
            "sentences": settings.sentences,
            "mentions": not has_mentions,
            "links": settings.links and not has_mentions,
        }
        self.gives = frozenset(part for part, is_given in gives.items() if is_given)
        self.drops = frozenset(settings.mentions_of or {name})
        labels = [label for labels in self._nlp.pipe_labels.values() for label in labels]
        self.types = (
            ()
            if has_mentions
            else tuple(dict.fromkeys(settings.types.values() if settings.types else labels))
        )
        identity = msgspec.json.encode([settings, self._nlp.meta], enc_hook=str)
        self.fingerprint = hashlib.sha256(identity).hexdigest()

    def run(self, documents: Sequence[Document]) -> Iterator[Patch]:
        """Yields one patch for each document."""
        for document in documents:
            yield self._describe(document) if self._settings.mentions_of else self._find(document)

    def _find(self, document: Document) -> Patch:
        doc = self._nlp(document.text)
        names = self._settings.types
        kinds = (
            (entity, names.get(entity.label_, "") if names else entity.label_)
            for entity in doc.ents
        )
        mentions = [self._mention(entity, kind) for entity, kind in kinds if kind]
        return Patch(
            add=unique(mentions)[0],
            drop=self._earlier(document),
            sentences=self._sentences(document, doc),
        )

    def _mention(self, span: Any, kind: str) -> Mention:
        link = Link(id="", nil=True) if span.kb_id_ == _NIL else parse_link(span.kb_id_)
        links = (link,) if self._settings.links and span.kb_id_ else ()
        place = ((span.start_char, span.end_char),)
        return Mention(
            place, kind, source=self.name, links=links, attributes=self._attributes(span)
        )

    def _describe(self, document: Document) -> Patch:
        """Returns the mentions of other layers with attributes; mentions that share a token are
        asked about apart.
        """
        mentions = [
            mention for mention in document.mentions if mention.source in self._settings.mentions_of
        ]
        replace: list[tuple[MentionKey, Mention]] = []
        sentences = None
        words = self._nlp.make_doc(document.text)
        placed = (
            (mention, words.char_span(mention.start, mention.end, alignment_mode="expand"))
            for mention in mentions
        )
        for apart in _rounds(
            (mention, (span.start, span.end)) for mention, span in placed if span is not None
        ):
            doc = self._with_entities(document, apart)
            by_tokens = {(span.start, span.end): self._attributes(span) for span in doc.ents}
            sentences = sentences or self._sentences(document, doc)
            for mention, tokens in apart:
                if new := by_tokens.get(tokens):
                    attributes = tuple((dict(mention.attributes) | dict(new)).items())
                    changed = msgspec.structs.replace(mention, attributes=attributes)
                    replace.append((mention.key, changed))
        return Patch(replace=tuple(replace), sentences=sentences)

    def _with_entities(self, document: Document, mentions: Sequence[_Placed]) -> Any:
        """Runs the pipeline on a text with mentions as its entities."""
        doc = self._nlp.make_doc(document.text)
        doc.ents = [(mention.type, start, end) for mention, (start, end) in mentions]
        return self._nlp(doc)

    def _attributes(self, span: Any) -> tuple[tuple[str, str], ...]:
        values = {name: getattr(span._, name) for name in self._settings.attributes}
        return tuple(
            (name, _text(value))
            for name, value in values.items()
            if value not in (None, "", [], ())
        )

    def _sentences(self, document: Document, doc: Any) -> tuple[tuple[int, int], ...] | None:
        if not self._settings.sentences or document.sentences is not None:
            return None
        return tuple(
            (sentence.start_char, sentence.end_char)
            for sentence in doc.sents
            if sentence.end_char > sentence.start_char
        )


def _rounds(placed: Iterable[_Placed]) -> list[list[_Placed]]:
    """Divides mentions into lists in which none shares a token with another, from the first
    token to the last.
    """
    rounds: list[list[_Placed]] = []
    for entry in sorted(placed, key=lambda pair: (pair[1][0], -pair[1][1])):
        free = next((group for group in rounds if group[-1][1][1] <= entry[1][0]), None)
        if free is None:
            rounds.append([entry])
        else:
            free.append(entry)
    return rounds


def _text(value: Any) -> str:
    """Returns the value of an extension as text: true and false in lower case, others as Python
    writes them.
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def _loaded(settings: SpacySettings, folder: str) -> Any:
    try:
        import spacy
    except ImportError:
        raise MissingExtraError("spacy", "spacy") from None
    place = Path(folder, settings.pipeline)
    try:
        for module in settings.imports:
            import_module(module)
        if settings.pipeline.startswith(_BLANK):
            nlp = spacy.blank(settings.pipeline.removeprefix(_BLANK))
        else:
            nlp = spacy.load(place if place.is_dir() else settings.pipeline)
        for component in settings.add:
            nlp.add_pipe(component)
        for component in settings.disable:
            nlp.disable_pipe(component)
    except (ImportError, OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:300]
        raise RecipeError(
            f"the spaCy pipeline {settings.pipeline!r} cannot be made ({reason}); install what it "
            "names, or correct it"
        ) from None
    _check_attributes(settings.attributes)
    return nlp


def _check_attributes(names: Sequence[str]) -> None:
    from spacy.tokens import Span

    if missing := [name for name in names if not Span.has_extension(name)]:
        raise RecipeError(
            f"spans of spaCy have no extension {missing[0]!r}; name the module that adds it in "
            "imports, or leave it out"
        )
