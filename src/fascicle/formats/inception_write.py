"""Writers for INCEpTION: WebAnno TSV 3.3, and UIMA CAS in JSON with its types; a file is one
document.

Mentions are named entities: their type is the value, and their first link is the identifier.
Offsets count UTF-16 units. The forms are those that `fascicle.formats.inception` reads.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate, groupby, pairwise
from types import MappingProxyType
from typing import Any, BinaryIO, Final

import msgspec

from fascicle.core.document import Document, Mention
from fascicle.core.mention import Span, link_text, parse_link
from fascicle.errors import InputError
from fascicle.formats.conll_write import with_words
from fascicle.formats.handlers import Encode, WriteOne, Writer, check_name, file_text
from fascicle.formats.losses import held_fields
from fascicle.formats.pubtator import count_links
from fascicle.formats.report import WriteReport

_DKPRO: Final = "de.tudarmstadt.ukp.dkpro.core.api."
_ENTITY: Final = f"{_DKPRO}ner.type.NamedEntity"
_LINKS: Final = " links link-ontologies link-curies"
_HEAD: Final = f"#FORMAT=WebAnno TSV 3.3\n#T_SP={_ENTITY}|identifier|value\n\n\n"
_IN_TEXT: Final = re.compile(r"[\\\t\n\r]")
_IN_VALUES: Final = re.compile(r"[\\\[\]|_;*\t\n\r]")
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LETTERS: Final = {"\t": "t", "\n": "n", "\r": "r"}
_WORD: Final = re.compile(r"\S+")
_Cells = dict[Span, list[tuple[str, str]]]  # part of a token -> identifier and type of mentions

_TOKEN: Final = f"{_DKPRO}segmentation.type.Token"
_SENTENCE: Final = f"{_DKPRO}segmentation.type.Sentence"
_METADATA: Final = f"{_DKPRO}metadata.type.DocumentMetaData"
_FEATURES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
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
    if document.words and document.words != tuple(tokens):
        report.lose("words", document)
    if document.sentences and document.sentences != ranges:
        report.lose("sentences", document)
    return "".join([_HEAD, *_lines(text, blocks, _cells(document, tokens, report))]).encode()


def _lines(text: str, blocks: Sequence[list[Span]], cells: Mapping[Span, _Cells]) -> Iterator[str]:
    """Yields the text and the rows of each sentence."""
    units = _units(text)
    borders = pairwise([0, *(block[0][0] for block in blocks[1:]), len(text)])
    for number, (block, (start, end)) in enumerate(zip(blocks, borders, strict=False), 1):
        yield from (f"#Text={_escape_text(line)}\n" for line in text[start:end].split("\n"))
        for at, token in enumerate(block, 1):
            yield from _rows(f"{number}-{at}", token, cells.get(token, {}), text, units)
        yield "\n"


def _rows(
    number: str, token: Span, parts: _Cells, text: str, units: Sequence[int]
) -> Iterator[str]:
    """Yields the row of a token, and those of its parts that mentions cover."""
    cells = {token: [("_", "_")], **parts}
    for at, part in enumerate(sorted(cells, key=lambda part: (part != token, part))):
        place = f"{number}.{at}" if at else number
        offsets = f"{units[part[0]]}-{units[part[1]]}"
        columns = ["|".join(column) for column in zip(*cells[part], strict=True)]
        yield "\t".join((place, offsets, _escape_text(text[slice(*part)]), *columns, "\n"))


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


def _cells(document: Document, tokens: Sequence[Span], report: WriteReport) -> dict[Span, _Cells]:
    """Returns for each token its parts that mentions cover, the whole token among them, with
    their cells.
    """
    cells: defaultdict[Span, _Cells] = defaultdict(dict)
    starts, ends = [start for start, _ in tokens], [end for _, end in tokens]
    report.mentions = 0
    for number, mention in enumerate(document.mentions, 1):
        own = tokens[bisect_right(ends, mention.start) : bisect_left(starts, mention.end)]
        parts = [(max(start, mention.start), min(end, mention.end)) for start, end in own]
        if not parts or (parts[0][0], parts[-1][1]) != mention.spans[0]:
            report.lose("not-on-words", document, mention)
            continue
        report.mentions += 1
        identifier = _escape_value(_concept(mention, document, report)) or "*"
        pair = (f"{identifier}[{number}]", f"{_escape_value(mention.type)}[{number}]")
        for token, part in zip(own, parts, strict=True):
            cells[token].setdefault(part, []).append(pair)
    return cells


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
    for number, (kind, span, facts) in enumerate(_annotations(document, report), 2):
        place = {"begin": units[span[0]], "end": units[span[1]]}
        structures.append({"%ID": number, "%TYPE": kind, "@sofa": 1, **place, **facts})

    members = list(range(2, len(structures) + 1))
    views = {"_InitialView": {"%SOFA": 1, "%MEMBERS": members}}
    return _ENCODER.encode(
        {"%TYPES": _type_system(), "%FEATURE_STRUCTURES": structures, "%VIEWS": views}
    )


def _annotations(
    document: Document, report: WriteReport
) -> Iterator[tuple[str, Span, dict[str, str]]]:
    """Yields type, span and features of the annotations of a CAS."""
    yield _METADATA, (0, len(document.text)), {"documentTitle": document.id}
    yield from ((_SENTENCE, span, {}) for span in document.sentences or ())
    yield from ((_TOKEN, span, {}) for span in document.words or ())
    for mention in document.mentions:
        concept = _concept(mention, document, report)
        facts = {"value": mention.type, **({"identifier": concept} if concept else {})}
        yield _ENTITY, mention.spans[0], facts


def _type_system() -> dict[str, dict[str, Any]]:
    return {
        name: {
            "%NAME": name,
            "%SUPER_TYPE": "uima.tcas.Annotation",
            **{key: {"%NAME": key, "%RANGE": "uima.cas.String"} for key in features},
        }
        for name, features in _FEATURES.items()
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


WEBANNO_WRITER: Final = Writer(
    holds=held_fields(
        "WebAnno TSV", "mentions nested", partly=f"text-between-words words sentences{_LINKS}"
    ),
    encoder=lambda _: _encode_tsv,
    into=_into_one,
    prepare=with_words,
    grows=False,
)
CAS_WRITER: Final = Writer(
    holds=held_fields(
        "UIMA CAS", "ids text-between-words mentions nested words sentences", partly=_LINKS.strip()
    ),
    encoder=lambda _: _encode_cas,
    into=_into_one,
    grows=False,
)
