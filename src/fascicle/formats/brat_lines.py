"""The lines of brat standoff files, and the file names of documents: the rules that reader and writer share.

A line is ``T1<TAB>Type 0 5;10 15<TAB>text`` (text-bound), ``N1<TAB>Reference T1 Ontology:id<TAB>name`` (normalisation),
``A1<TAB>Name T1 value`` (attribute) or ``#1<TAB>AnnotatorNotes T1<TAB>note``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fascicle.core.document import Link
from fascicle.core.spans import Span

TEXT: Final = ".txt"
ANNOTATIONS: Final = (".ann", ".a1", ".a2")
SUFFIXES: Final = (TEXT, *ANNOTATIONS)
NOTE: Final = "AnnotatorNotes"
REFERENCE: Final = "Reference"
NO_ONTOLOGY: Final = "-"
_NO_ENTRY: Final = frozenset({"", "NULL", "NIL"})
_PAIR: Final = "-?[0-9]{1,18} -?[0-9]{1,18}"
# Words of a type after the first may not begin with a digit: they would be offsets.
_TYPE: Final = "[^\\t ]+(?: (?!-?[0-9])[^\\t ]+)*"
_TEXT_BOUND: Final = re.compile(rf"(T\S*)\t({_TYPE}) +({_PAIR}(?:;{_PAIR})*) *(?:\t(.*))?", re.DOTALL)
# Whatever a program may take for the end of a line, and TAB: in the text of a mention a blank stands for each.
_BREAKS: Final = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029\0]")
_NOT_IN_NAMES: Final = re.compile('[\x00-\x1f\x7f-\x9f\u2028\u2029/\\\\:*?"<>|%]|^\\.')
_ESCAPED: Final = re.compile(r"(?:%[0-9A-F]{2})+")


@dataclass(frozen=True, kw_only=True)
class TextBound:
    """A T line.

    Attributes:
        id: as it stands, e.g. ``"T1"``.
        type: entity type.
        spans: offsets in the order of the file, unchecked.
        text: of the mention, as the line gives it; ``None`` if it gives none.
        place: file and line, for messages.
        listed: whether the file is one whose T lines are mentions.
    """

    id: str
    type: str
    spans: tuple[Span, ...]
    text: str | None
    place: str
    listed: bool = True


def parse_text_bound(line: str, *, place: str, listed: bool = True) -> TextBound | None:
    """Reads a T line; ``None`` if it is none."""
    match = _TEXT_BOUND.fullmatch(line)
    if match is None:
        return None
    pairs = (pair.split(" ") for pair in match[3].split(";"))
    spans = tuple((int(start), int(end)) for start, end in pairs)
    return TextBound(id=match[1], type=match[2], spans=spans, text=match[4], place=place, listed=listed)


def joined(text: str, spans: Sequence[Span]) -> str:
    """The text column of a mention: fragments joined by one blank, a blank for every line break and TAB."""
    return _BREAKS.sub(" ", " ".join(text[start:end] for start, end in spans))


def agrees(expected: str, text: str, spans: Sequence[Span]) -> bool:
    """Whether the text column of a line is the text at these offsets.

    Fragments may be joined by a blank or, as before brat 1.3, by nothing; a line break may be one blank.
    """
    # No longer stretch can agree, and none is copied: a short file may name the whole text a thousand times.
    if sum(max(0, end - start) for start, end in spans) > 4 * len(expected) + 100:
        return False
    wanted = _BREAKS.sub(" ", expected)
    if wanted == joined(text, spans):
        return True
    fragments = [text[start:end] for start, end in spans]
    forms = (" ".join(fragments), "".join(fragments))
    return any(wanted == _BREAKS.sub(" ", form) for found in forms for form in (found, found.replace("\r\n", "\n")))


def parse_reference(middle: str, name: str) -> tuple[str, Link | None, str] | None:
    """Reads the middle column of an N line.

    Known are ``Reference T1 Ontology:id``, where an ontology ``-`` stands for none, the form of the BioNLP shared tasks
    ``Ontology Annotation:T1 Referent:id``, and ``Ontology:id T1``.

    Args:
        middle: the column.
        name: of the entry, from the last column.

    Returns:
        The id of the mention, the link (``None`` for ids such as ``NULL``, which name no entry), and the reference
        ``Ontology:id``; or ``None`` if the column is none of these.
    """
    fields = middle.split(" ")
    parts = dict(field.partition(":")[::2] for field in fields[1:])
    if len(fields) == 3 and parts.keys() == {"Annotation", "Referent"}:
        target, identifier = parts["Annotation"], parts["Referent"]
        reference = f"{fields[0]}:{identifier}" if fields[0] != REFERENCE else identifier
    elif len(fields) == 3:
        _, target, reference = fields
    elif len(fields) == 2:
        reference, target = fields
    else:
        return None
    ontology, sign, identifier = reference.partition(":")
    if identifier.startswith("//"):  # an address is an id as a whole
        ontology, identifier = NO_ONTOLOGY, reference
    if not sign or not ontology or not target:
        return None
    if not names_an_entry(identifier):
        return target, None, reference
    ontology = "" if ontology == NO_ONTOLOGY else ontology
    return target, Link(id=identifier, ontology=ontology, name=name), reference


def names_an_entry(identifier: str) -> bool:
    """Whether an id is more than the remark that the ontology has none (``NULL``, ``NIL``, nothing)."""
    return identifier.upper() not in _NO_ENTRY


def format_reference(link: Link) -> str:
    """What `parse_reference` reads back as this link, after ``Reference T1``."""
    return f"{link.ontology or NO_ONTOLOGY}:{link.id}"


def file_name(identifier: str) -> str:
    r"""The file name that stands for a document id, without a suffix.

    Characters that some system does not allow (control characters and ``/ \ : * ? " < > | %``, a dot in front) become
    ``%`` and two hexadecimal digits for each byte of their UTF-8.
    """
    return _NOT_IN_NAMES.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), identifier)


def document_id(name: str) -> str:
    """The id that a file name (without its suffix) stands for: one that `file_name` has made is turned back."""
    try:
        original = _ESCAPED.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode(), name)
    except UnicodeDecodeError:
        return name
    return original if file_name(original) == name else name
