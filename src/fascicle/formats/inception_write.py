"""Writers for INCEpTION: WebAnno TSV 3.3, and UIMA CAS in JSON with its types; a file is one
document.

Mentions are named entities: their type is the value, and their first link is the identifier.
Offsets count UTF-16 units. The forms are those that `fascicle.formats.inception` reads.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, groupby
from typing import Any, BinaryIO, Final

import msgspec

from fascicle.core.document import Document, Mention
from fascicle.core.mention import Span, link_text, parse_link
from fascicle.errors import InputError
from fascicle.formats.conll_write import with_words
from fascicle.formats.handlers import Encode, WriteOne, Writer, check_name
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


def _encode_tsv(document: Document, report: WriteReport) -> bytes:
    """Encodes one document as lines: a row for each token, and one for a part of a token that a
    mention covers.
    """
    text = document.text.replace("\0", " ")
    if nul := document.text.count("\0"):
        report.lose("nul", document, count=nul)
    tokens = _tokens(document, text)
    for code, is_lost in (
        ("empty-documents", not tokens),
        ("words", tuple(tokens) != (document.words or ())),
    ):
        if is_lost and (code != "words" or document.words):
            report.lose(code, document)
    blocks = list(_blocks(document, tokens))
    if document.sentences and document.sentences != tuple(
        (one[0][0], one[-1][1]) for one in blocks
    ):
        report.lose("sentences", document)
    cells = _cells(document, tokens, report)
    starts = [0, *(block[0][0] for block in blocks[1:]), len(text)]
    units = _units(text)
    made = [_HEAD]
    for number, block in enumerate(blocks):
        lines = text[starts[number] : starts[number + 1]].split("\n")
        made += [f"#Text={_IN_TEXT.sub(_escape, line)}\n" for line in lines]
        for at, token in enumerate(block, 1):
            own = {token: [("_", "_")], **cells.get(token, {})}
            for nth, part in enumerate(sorted(own, key=lambda part: (part != token, part))):
                place = (
                    f"{number + 1}-{at}{f'.{nth}' * bool(nth)}\t{units[part[0]]}-{units[part[1]]}"
                )
                values = ["|".join(column) for column in zip(*own[part], strict=True)]
                made.append(
                    "\t".join((place, _IN_TEXT.sub(_escape, text[slice(*part)]), *values, "\n"))
                )
        made.append("\n")
    return "".join(made).encode()


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


def _cells(
    document: Document, tokens: Sequence[Span], report: WriteReport
) -> dict[Span, dict[Span, list[tuple[str, str]]]]:
    """Returns for each token its parts that mentions cover, the whole token among them, with
    their cells.
    """
    cells: defaultdict[Span, dict[Span, list[tuple[str, str]]]] = defaultdict(dict)
    ends, report.mentions = [end for _, end in tokens], 0
    for number, mention in enumerate(document.mentions, 1):
        own = [
            token for token in tokens[bisect_right(ends, mention.start) :] if token[0] < mention.end
        ]
        parts = [(max(start, mention.start), min(end, mention.end)) for start, end in own]
        if not parts or (parts[0][0], parts[-1][1]) != mention.spans[0]:
            report.lose("not-on-words", document, mention)
            continue
        report.mentions += 1
        identifier, kind = (
            _IN_VALUES.sub(_escape, value)
            for value in (_concept(mention, document, report), mention.type)
        )
        for token, part in zip(own, parts, strict=True):
            cells[token].setdefault(part, []).append(
                (f"{identifier or '*'}[{number}]", f"{kind}[{number}]")
            )
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


def _escape(match: re.Match[str]) -> str:
    return f"\\{_LETTERS.get(match[0], match[0])}"


def _units(text: str) -> list[int]:
    """Returns for each character, and for the end, the number of UTF-16 units before it."""
    return list(accumulate((1 + (sign > "\uffff") for sign in text), initial=0))


_CAS_TYPES: Final = (
    (_ENTITY, ("value", "identifier")),
    (f"{_DKPRO}segmentation.type.Token", ()),
    (f"{_DKPRO}segmentation.type.Sentence", ()),
    (f"{_DKPRO}metadata.type.DocumentMetaData", ("documentTitle",)),
)
_ENCODER: Final = msgspec.json.Encoder()


def _encode_cas(document: Document, report: WriteReport) -> bytes:
    """Encodes one document as a CAS, whose title is the id of the document."""
    check_name(document.id, what="the document id", trimmed=False)
    units, text = _units(document.text), document.text
    entity, token, sentence, metadata = (name for name, _ in _CAS_TYPES)
    sofa = {
        "%ID": 1,
        "%TYPE": "uima.cas.Sofa",
        "sofaNum": 1,
        "sofaID": "_InitialView",
        "mimeType": "text",
    }
    annotations: list[tuple[str, Span, dict[str, str]]] = [
        (metadata, (0, len(text)), {"documentTitle": document.id})
    ]
    annotations += [(sentence, span, {}) for span in document.sentences or ()]
    annotations += [(token, span, {}) for span in document.words or ()]
    for mention in document.mentions:
        concept = _concept(mention, document, report)
        facts = {"value": mention.type, **({"identifier": concept} if concept else {})}
        annotations.append((entity, mention.spans[0], facts))
    made = [
        {
            "%ID": at,
            "%TYPE": kind,
            "@sofa": 1,
            "begin": units[span[0]],
            "end": units[span[1]],
            **facts,
        }
        for at, (kind, span, facts) in enumerate(annotations, 2)
    ]
    types = {
        name: {
            "%NAME": name,
            "%SUPER_TYPE": "uima.tcas.Annotation",
            **{key: {"%NAME": key, "%RANGE": "uima.cas.String"} for key in features},
        }
        for name, features in _CAS_TYPES
    }
    views = {"_InitialView": {"%SOFA": 1, "%MEMBERS": [one["%ID"] for one in made]}}
    structures: list[dict[str, Any]] = [{**sofa, "sofaString": text}, *made]
    return _ENCODER.encode({"%TYPES": types, "%FEATURE_STRUCTURES": structures, "%VIEWS": views})


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
