"""Component of spaCy: ``nlp.add_pipe("fascicle")``; needs the extra ``spacy``, and is found by
its entry point.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
from spacy.language import Language
from spacy.scorer import get_ner_prf
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import minibatch

from fascicle.core import codec
from fascicle.core.document import Document, Mention, MentionKey, TextMention
from fascicle.core.mention import AMBIGUOUS, link_text
from fascicle.errors import ModelError

if TYPE_CHECKING:
    from fascicle.text.annotator import Annotator

_NAME: Final = "fascicle"
_FILE: Final = "fascicle.json"
_NIL: Final = "NIL"  # as spaCy's own linker writes it


class _Component:
    """Finds mentions in the texts of spaCy, whatever its tokens are.

    Every mention becomes a span of ``doc.spans`` that covers its tokens, with the concept of its
    first link as ``kb_id_``. Those that overlap no better one become entities of ``doc.ents`` too.
    Extensions keep what spans cannot hold: ``doc._.fascicle`` is the document with exact offsets,
    all links and events; ``span._.fascicle_score``, ``span._.fascicle_curies`` and
    ``span._.fascicle_facts`` are the score, the concepts and the attributes of a span, such as
    ``negated``.
    """

    def __init__(
        self,
        name: str,
        model: "Annotator",
        *,
        spans_key: str,
        set_ents: bool,
        overwrite_ents: bool,
    ) -> None:
        """Takes the open model, which opens again in other processes."""
        self.name, self.model = name, model
        self._spans_key, self._set_ents, self._overwrite = spans_key, set_ents, overwrite_ents
        self._handle: Callable[..., None] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Types of the mentions."""
        return self.model.types

    def __call__(self, doc: Doc) -> Doc:
        """Adds the mentions to one text."""
        return self._mark(doc, self.model(doc.text))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Adds the mentions to texts, which go through the model in batches."""
        for docs in minibatch(stream, size=batch_size):
            try:
                documents = self.model([doc.text for doc in docs])
                results = [
                    self._mark(doc, document) for doc, document in zip(docs, documents, strict=True)
                ]
            except Exception as error:
                if self._handle is None:
                    raise
                self._handle(self.name, self, docs, error)
                continue
            yield from results

    def score(self, examples: Iterable[Example], **settings: Any) -> dict[str, Any]:
        """Returns the scores of ``doc.ents``, which ``nlp.evaluate`` calls ``ents_f`` and so on."""
        scores: dict[str, Any] = get_ner_prf(examples)
        return scores

    def set_error_handler(self, handle: Callable[..., None]) -> None:
        """Sets what is called with a batch that fails; see ``Language.set_error_handler``."""
        self._handle = handle

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Returns which model it was; the settings are in the configuration of the pipeline."""
        return json.dumps({"fingerprint": self.model.fingerprint}).encode()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "_Component":
        """Requires the model of `to_bytes`; returns the component itself.

        Raises:
            ModelError: it is another one.
        """
        if json.loads(data)["fingerprint"] != self.model.fingerprint:
            raise ModelError(
                f"the pipeline was saved with another {self.model.name} than the one that is here, "
                "which gives other answers; put that one back, or make the pipeline again"
            )
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Writes what `to_bytes` returns into a folder."""
        Path(path).mkdir(parents=True, exist_ok=True)
        (Path(path) / _FILE).write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "_Component":
        """Reads what `to_disk` wrote; returns the component itself."""
        return self.from_bytes((Path(path) / _FILE).read_bytes())

    def _mark(self, doc: Doc, document: Document) -> Doc:
        spans = [
            (mention, _span(doc, mention, f"{self.name}:{number}"))
            for number, mention in enumerate(document)
        ]
        others = [  # of components with the same key
            span for span in doc.spans.get(self._spans_key, ()) if _component(span) != self.name
        ]
        doc.spans[self._spans_key] = [*others, *(span for _, span in spans)]
        facts = [
            [
                mention.score,
                [
                    link_text(link)
                    for link in mention.links
                    if not link.nil and link.tier != AMBIGUOUS
                ],
                dict(mention.attributes),
            ]
            for mention in document
        ]
        doc.user_data[_key(self.name)] = {
            "document": codec.encode(document).decode(),
            "spans": facts,
        }
        if self._set_ents:
            best = [span for mention, span in sorted(spans, key=lambda pair: pair[0].rank)]
            earlier = list(doc.ents)
            doc.set_ents(_disjoint([*best, *earlier] if self._overwrite else [*earlier, *best]))
        return doc


def _span(doc: Doc, mention: TextMention, name: str) -> Span:
    """Returns the tokens of a mention; the id of the span has its component and its number, for two
    mentions may have the same tokens.
    """
    link = next((candidate for candidate in mention.links if candidate.tier != AMBIGUOUS), None)
    concept = "" if link is None else _NIL if link.nil else link_text(link)
    edges = (mention.start, mention.end)
    return doc.char_span(
        *edges, label=mention.type, kb_id=concept, span_id=name, alignment_mode="expand"
    )


def _disjoint(spans: list[Span]) -> list[Span]:
    """Returns the spans that share no token with one before them."""
    taken: set[int] = set()
    disjoint = []
    for span in spans:
        tokens = range(span.start, span.end)
        if taken.isdisjoint(tokens):
            taken.update(tokens)
            disjoint.append(span)
    return disjoint


def _key(component: str) -> str:
    """Returns the key of ``doc.user_data`` for a component."""
    return _NAME if component == _NAME else f"{_NAME}:{component}"


def _component(span: Span) -> str:
    return str(span.id_.rpartition(":")[0])


def _facts(span: Span) -> list[Any]:
    number = span.id_.rpartition(":")[2]
    facts: list[Any] = span.doc.user_data.get(_key(_component(span)), {}).get("spans", [])
    return facts[int(number)] if number.isdecimal() and int(number) < len(facts) else [None, [], {}]


def _united(first: Mention, other: Mention) -> Mention:
    """Returns two mentions of one name as one, with the links and attributes of both."""
    scores = [mention.score for mention in (first, other) if mention.score is not None]
    return msgspec.structs.replace(
        first,
        score=max(scores, default=None),
        links=tuple(dict.fromkeys((*first.links, *other.links))),
        attributes=tuple(dict.fromkeys((*first.attributes, *other.attributes))),
    )


def _document(doc: Doc) -> Document | None:
    """Returns the document with the mentions of all components."""
    documents = [
        codec.decode(record["document"])
        for key, record in doc.user_data.items()
        if key == _NAME or (isinstance(key, str) and key.startswith(f"{_NAME}:"))
    ]
    if len(documents) < 2:
        return documents[0] if documents else None
    mentions: dict[MentionKey, Mention] = {}
    for mention in (mention for each in documents for mention in each.mentions):
        before = mentions.get(mention.key)
        mentions[mention.key] = mention if before is None else _united(before, mention)
    relations, events, changes = (
        tuple(dict.fromkeys(part for each in documents for part in getattr(each, name)))
        for name in ("relations", "events", "changes")
    )
    return documents[0].having(
        mentions=tuple(mentions.values()), relations=relations, events=events, changes=changes
    )


def create(
    nlp: Language,
    name: str,
    model: str,
    also: str | list[str],
    case: Literal["auto", "exact", "any"],
    link: str | None,
    ontology: str,
    careful: str | list[str],
    only: str | list[str],
    threshold: float | dict[str, float],
    threads: int | None,
    device: str | None,
    types: str | None,
    ends: Literal["bare", "corpus"] | None,
    nested: bool,
    links: bool,
    variants: bool,
    assertions: bool | str,
    relations: str | None,
    spans_key: str,
    set_ents: bool,
    overwrite_ents: bool,
) -> _Component:
    """Makes the component and opens its model.

    Args:
        nlp: the pipeline.
        name: of the component in it.
        model: see `fascicle.load`, as for all arguments up to ``relations``.
        also: own names beside the model.
        case: in which capitals they are found.
        link: a linker, ``"auto"``, or ``None``.
        ontology: of the links.
        careful: types that a second model confirms.
        only: types.
        threshold: least scores.
        threads: of the network.
        device: of the network.
        types: a file of types to look for.
        ends: rule for the ends of names.
        nested: names inside others.
        links: whether there may be links.
        variants: also find sequence variants.
        assertions: facts of mentions, in ``span._.fascicle_facts``.
        relations: a finder of relations, which are in ``doc._.fascicle.relations``.
        spans_key: key of ``doc.spans`` for all mentions.
        set_ents: also set ``doc.ents``.
        overwrite_ents: replace entities of earlier components that overlap.
    """
    from fascicle.loading import load  # late: spaCy loads this module for every pipeline

    opened = load(
        model,
        also=also,
        case=case,
        link=link,
        ontology=ontology,
        careful=careful,
        only=only,
        threshold=threshold,
        threads=threads,
        device=device,
        types=types,
        ends=ends,
        nested=nested,
        links=links,
        variants=variants,
        assertions=assertions,
        relations=relations,
    )
    return _Component(
        name, opened, spans_key=spans_key, set_ents=set_ents, overwrite_ents=overwrite_ents
    )


_DEFAULTS: Final = {
    "model": "biomed",
    "also": [],
    "case": "auto",
    "link": "auto",
    "ontology": "",
    "careful": [],
    "only": [],
    "threshold": 0.0,
    "threads": None,
    "device": None,
    "types": None,
    "ends": None,
    "nested": False,
    "links": True,
    "variants": False,
    "assertions": False,
    "relations": None,
    "spans_key": _NAME,
    "set_ents": True,
    "overwrite_ents": False,
}
for kind, extension, getter in (
    (Doc, _NAME, _document),
    (Span, f"{_NAME}_score", lambda span: _facts(span)[0]),
    (Span, f"{_NAME}_curies", lambda span: list(_facts(span)[1])),
    (Span, f"{_NAME}_facts", lambda span: dict(_facts(span)[2])),
):
    kind.set_extension(extension, getter=getter, force=True)
Language.factory(
    _NAME,
    default_config=_DEFAULTS,
    assigns=[
        "doc.ents",
        "doc.spans",
        f"doc._.{_NAME}",
        f"span._.{_NAME}_score",
        f"span._.{_NAME}_curies",
        f"span._.{_NAME}_facts",
    ],
    func=create,
)
