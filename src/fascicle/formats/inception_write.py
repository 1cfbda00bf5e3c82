"""Writers for INCEpTION: WebAnno TSV 3.3, and UIMA CAS in JSON with its types; a file is one
document.

Mentions are named entities: their type is the value, and their first link is the identifier.
Relations are arcs and chains, see `fascicle.formats.inception_relations`. Offsets count UTF-16
units. The forms are those that `fascicle.formats.inception` reads.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate, groupby, pairwise
from types import MappingProxyType
from typing import Any, BinaryIO, Final

import msgspec

from fascicle.core.document import Document, Mention, MentionKey
from fascicle.core.mention import Span, link_text, parse_link
from fascicle.errors import InputError
from fascicle.formats.conll_write import with_words
from fascicle.formats.handlers import Encode, FormatWriter, WriteOne, check_name, file_text
from fascicle.formats.inception_relations import (
    COREFERENCE,
    DEPENDENT,
    GOVERNOR,
    Arc,
    HeldRelations,
    RelationChain,
    Structure,
    arc_structures,
    chain_structures,
    held_relations,
)
from fascicle.formats.losses import count_links, held_fields
from fascicle.formats.report import WriteReport

_DKPRO: Final = "de.tudarmstadt.ukp.dkpro.core.api."
_ENTITY: Final = f"{_DKPRO}ner.type.NamedEntity"
_LINKS: Final = " links link-ontologies link-curies"
_HEAD: Final = f"#FORMAT=WebAnno TSV 3.3\n#T_SP={_ENTITY}|identifier|value\n"
_IN_TEXT: Final = re.compile(r"[\\\t\n\r]")
_IN_TOKENS: Final = re.compile(r"[\t\n\r]")  # WebAnno escapes no token
_IN_VALUES: Final = re.compile(r"->|[\\\[\]|_;*\t\n\r]")
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LETTERS: Final = {"\t": "t", "\n": "n", "\r": "r"}
_WORD: Final = re.compile(r"\S+")

_TOKEN: Final = f"{_DKPRO}segmentation.type.Token"
_SENTENCE: Final = f"{_DKPRO}segmentation.type.Sentence"
_METADATA: Final = f"{_DKPRO}metadata.type.DocumentMetaData"
_FEATURES: Final = MappingProxyType(
    {
        _ENTITY: ("value", "identifier"),
        _TOKEN: (),
        _SENTENCE: (),
        _METADATA: ("documentTitle",),
    }
)
_SOFA: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "%ID": 1,
        "%TYPE": "uima.cas.Sofa",
        "sofaNum": 1,
        "sofaID": "_InitialView",
        "mimeType": "text",
    }
)
_ENCODER: Final = msgspec.json.Encoder()


def _encode_tsv(document: Document, report: WriteReport) -> bytes:
    """Encodes one document as lines: a row for each token, and one for a part of a token that a
    mention covers.
    """
    text, _ = file_text(document, report)
    tokens = _tokens(document, text)
    blocks = list(_blocks(document, tokens))
    ranges = tuple((block[0][0], block[-1][1]) for block in blocks)
    if not tokens:
        report.lose("empty-documents", document)
    elif text[: tokens[0][0]].strip(" "):
        report.lose("text-between-words", document)
    if document.words and document.words != tuple(tokens):
        report.lose("words", document)
    if document.sentences and document.sentences != ranges:
        report.lose("sentences", document)
    places = _mention_places(document, tokens, report)
    rows = _Rows(blocks, [part for parts in places.values() for part in parts])
    rows.add_layer("", _entity_cells(document, places, report))
    _add_relations(rows, document, places, report)
    return "".join([_HEAD, *rows.heads, "\n", *rows.lines(text, blocks)]).encode()


_Part = tuple[Span, Span]  # of a token: the token, and the part, which may be all of it
_Places = Mapping[MentionKey, Sequence[_Part]]
_LayerCells = Iterator[tuple[_Part, tuple[str, ...]]]


class _Rows:
    """Rows of a file: one for each token, and one for each other part that mentions cover."""

    def __init__(self, blocks: Sequence[list[Span]], parts: Iterable[_Part]) -> None:
        """Names the rows.

        Args:
            blocks: tokens of each sentence.
            parts: of tokens that mentions cover.
        """
        by_token = defaultdict[Span, set[Span]](set)
        for token, part in parts:
            by_token[token].add(part)
        self.names: dict[_Part, str] = {}
        for number, block in enumerate(blocks, 1):
            for at, token in enumerate(block, 1):
                self.names[token, token] = f"{number}-{at}"
                rest = sorted(by_token[token] - {token})
                self.names |= {
                    (token, part): f"{number}-{at}.{place}" for place, part in enumerate(rest, 1)
                }
        self._columns = defaultdict[_Part, list[str]](list)
        self.heads: list[str] = []

    def add_layer(self, head: str, cells: _LayerCells) -> None:
        """Adds the columns of a layer; one without cells has two."""
        stacked = defaultdict[_Part, list[tuple[str, ...]]](list)
        width = 2
        for part, values in cells:
            stacked[part].append(values)
            width = len(values)
        for part in self.names:
            stack = stacked.get(part, [("_",) * width])
            self._columns[part] += ("|".join(column) for column in zip(*stack, strict=True))
        self.heads.append(head)

    def lines(self, text: str, blocks: Sequence[list[Span]]) -> Iterator[str]:
        """Yields the text and the rows of each sentence."""
        units = _units(text)
        rows = iter(self.names.items())
        # INCEpTION fills the text before the first token of a sentence with blanks
        borders = pairwise([*(block[0][0] for block in blocks), len(text)])
        row = next(rows, None)
        for number, (start, end) in enumerate(borders, 1):
            if row is None:
                return
            yield "\n"  # INCEpTION refuses a file with an empty line at its end
            yield from (f"#Text={_escape_text(line)}\n" for line in text[start:end].split("\n"))
            while row and row[1].startswith(f"{number}-"):
                (_, part), name = row
                offsets = f"{units[part[0]]}-{units[part[1]]}"
                words = _IN_TOKENS.sub(_escape, text[slice(*part)])
                yield "\t".join((name, offsets, words, *self._columns[row[0]], "\n"))
                row = next(rows, None)


def _tokens(document: Document, text: str) -> list[Span]:
    """Returns the words of a document, and what stands between them and is not blank."""
    tokens, at = list[Span](), 0
    for start, end in (*(document.words or ()), (len(text), len(text))):
        tokens += [match.span() for match in _WORD.finditer(text, at, start)]
        tokens += [(start, end)] if text[start:end].strip() else []
        at = end
    return tokens


def _blocks(document: Document, tokens: Sequence[Span]) -> Iterator[list[Span]]:
    """Yields the tokens of each sentence; those between two sentences belong to the one before."""
    starts = sorted(start for start, _ in document.sentences or ())
    for _, block in groupby(tokens, lambda token: bisect_right(starts, token[0])):
        yield list(block)


def _add_relations(rows: _Rows, document: Document, places: _Places, report: WriteReport) -> None:
    """Adds the layers of arcs and of chains."""
    mentions = [mention for mention in document.mentions if mention.key in places]
    relations = held_relations(document, mentions, report)
    numbers = {mention.key: at for at, mention in enumerate(document.mentions, 1)}
    for layer, features in relations.layers().items():
        arcs = [arc for arc in relations.arcs if arc.layer == layer]
        head = f"#T_RL={'|'.join((layer, *features, f'BT_{_ENTITY}'))}\n"
        rows.add_layer(head, _arc_cells(arcs, features, rows=rows, places=places, numbers=numbers))
    if relations.chains:
        head = f"#T_CH={COREFERENCE}Link|referenceType|referenceRelation\n"
        rows.add_layer(head, _chain_cells(relations.chains, places))


def _mention_places(
    document: Document, tokens: Sequence[Span], report: WriteReport
) -> dict[MentionKey, list[_Part]]:
    """Returns the parts of tokens that each mention covers; counts mentions that begin or end
    outside of tokens.
    """
    starts, ends = [start for start, _ in tokens], [end for _, end in tokens]
    places = {}
    for mention in document.mentions:
        own = tokens[bisect_right(ends, mention.start) : bisect_left(starts, mention.end)]
        parts = [(max(start, mention.start), min(end, mention.end)) for start, end in own]
        if not parts or (parts[0][0], parts[-1][1]) != mention.spans[0]:
            report.lose("not-on-words", document, mention)
            continue
        places[mention.key] = list(zip(own, parts, strict=True))
    report.mentions = len(places)
    return places


def _entity_cells(document: Document, places: _Places, report: WriteReport) -> _LayerCells:
    """Yields the identifier and the type of each mention at each of its parts."""
    for number, mention in enumerate(document.mentions, 1):
        if parts := places.get(mention.key):
            identifier = _escape_value(_concept(mention, document, report)) or "*"
            pair = (f"{identifier}[{number}]", f"{_escape_value(mention.type)}[{number}]")
            yield from ((part, pair) for part in parts)


def _arc_cells(
    arcs: Iterable[Arc],
    features: Sequence[str],
    *,
    rows: _Rows,
    places: _Places,
    numbers: Mapping[MentionKey, int],
) -> _LayerCells:
    """Yields the features and the governor of each arc, in the row where its dependent begins."""
    for arc in arcs:
        values = [_escape_value(arc.facts.get(name, "")) or "*" for name in features]
        governor = rows.names[places[arc.governor][0]]
        ends = f"{numbers[arc.governor]}_{numbers[arc.dependent]}"
        yield places[arc.dependent][0], (*values, f"{governor}[{ends}]")


def _chain_cells(chains: Iterable[RelationChain], places: _Places) -> _LayerCells:
    """Yields the role and the type of each link, with its number in the chain."""
    for number, chain in enumerate(chains, 1):
        for at, (role, key) in enumerate(chain.links, 1):
            cells = (_escape_value(role) or "*", f"{_escape_value(chain.type)}->{number}-{at}")
            yield from ((part, cells) for part in places[key])


def _concept(mention: Mention, document: Document, report: WriteReport) -> str:
    check_name(
        mention.type, what=f"the type of a mention of document {document.id!r},", trimmed=False
    )
    concept = next(
        (
            identifier
            for identifier in map(link_text, mention.links)
            if identifier and not _CONTROLS.search(identifier)
        ),
        "",
    )
    count_links(mention, [parse_link(concept)] if concept else [], document, report)
    return concept


def _escape_text(text: str) -> str:
    return _IN_TEXT.sub(_escape, text)


def _escape_value(text: str) -> str:
    return _IN_VALUES.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return f"\\{_LETTERS.get(match[0], match[0])}"


def _units(text: str) -> list[int]:
    """Returns for each character, and for the end, the number of UTF-16 units before it."""
    return list(accumulate((1 + (sign > "\uffff") for sign in text), initial=0))


def _encode_cas(document: Document, report: WriteReport) -> bytes:
    """Encodes one document as a CAS, whose title is the id of the document."""
    check_name(document.id, what="the document id", trimmed=False)
    units = _units(document.text)
    structures: list[dict[str, Any]] = [{**_SOFA, "sofaString": document.text}]
    relations = held_relations(document, document.mentions, report)
    annotations = _annotations(document, relations, report)
    for number, (kind, span, facts) in enumerate(annotations, 2):
        place = {"begin": units[span[0]], "end": units[span[1]]} if span else {}
        structures.append({"%ID": number, "%TYPE": kind, "@sofa": 1, **place, **facts})

    members = list(range(2, len(structures) + 1))
    views = {"_InitialView": {"%SOFA": 1, "%MEMBERS": members}}
    return _ENCODER.encode(
        {"%TYPES": _type_system(relations), "%FEATURE_STRUCTURES": structures, "%VIEWS": views}
    )


def _annotations(
    document: Document, relations: HeldRelations, report: WriteReport
) -> Iterator[Structure]:
    """Yields type, span and features of what a CAS contains, whose numbers begin with 2."""
    yield _METADATA, (0, len(document.text)), {"documentTitle": document.id}
    yield from ((_SENTENCE, span, {}) for span in document.sentences or ())
    yield from ((_TOKEN, span, {}) for span in document.words or ())
    first = 3 + len(document.sentences or ()) + len(document.words or ())
    for mention in document.mentions:
        concept = _concept(mention, document, report)
        facts = {"value": mention.type, **({"identifier": concept} if concept else {})}
        yield _ENTITY, mention.spans[0], facts
    numbers = {mention.key: at for at, mention in enumerate(document.mentions, first)}
    yield from arc_structures(relations.arcs, numbers)
    yield from chain_structures(relations.chains, first + len(numbers) + len(relations.arcs))


def _type_system(relations: HeldRelations) -> dict[str, dict[str, Any]]:
    string = "uima.cas.String"
    features = {name: dict.fromkeys(names, string) for name, names in _FEATURES.items()}
    ends = dict.fromkeys((GOVERNOR, DEPENDENT), "uima.tcas.Annotation")
    for layer, names in relations.layers().items():
        features[layer] = {**dict.fromkeys(names, string), **ends}
    if relations.chains:
        link = f"{COREFERENCE}Link"
        texts = dict.fromkeys(("referenceType", "referenceRelation"), string)
        features |= {link: {**texts, "next": link}, f"{COREFERENCE}Chain": {"first": link}}
    return {
        name: {
            "%NAME": name,
            "%SUPER_TYPE": "uima.cas.AnnotationBase"
            if name.endswith("Chain")
            else "uima.tcas.Annotation",
            **{key: {"%NAME": key, "%RANGE": kind} for key, kind in ranges.items()},
        }
        for name, ranges in features.items()
    }


@contextmanager
def _into_one(stream: BinaryIO, _: Encode) -> Iterator[WriteOne]:
    """Yields the function that writes the one document of a file; it refuses a second one."""
    write: Callable[[bytes], object] = stream.write

    def write_one(data: bytes) -> None:
        nonlocal write
        write(data)
        write = _refuse

    yield write_one


def _refuse(_: bytes) -> None:
    raise InputError(
        "a file of this format holds one document; give each document as an input, and a folder "
        "to write"
    )


WEBANNO_WRITER: Final = FormatWriter(
    holds=held_fields(
        "WebAnno TSV",
        "mentions nested",
        partly=f"text-between-words words sentences relations{_LINKS}",
    ),
    encoder=lambda _: _encode_tsv,
    into=_into_one,
    prepare=with_words,
    grows=False,
)
CAS_WRITER: Final = FormatWriter(
    holds=held_fields(
        "UIMA CAS",
        "ids text-between-words mentions nested words sentences",
        partly=f"relations{_LINKS}",
    ),
    encoder=lambda _: _encode_cas,
    into=_into_one,
    grows=False,
)
