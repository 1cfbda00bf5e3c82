"""Label files: predictions for every word of texts, as hard tags and as probabilities, without the
text.

A file is gzip, of JSON Lines. The first line names the predictor, its types and the tags; each line
after it is a document; the last one counts them, so that a truncated file is detected. A document
has its id, a hash of its text, and its tags: the word, the tag, and the probability in 255ths (an
error of at most 1/510), plus 256 if the predictor chose the tag. A probability below the floor is
not stored, and is read as 0.

The words are those that the document marks, else those of the segmenter that the first line names.
"""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from fascicle.core.arrays import Bools, Floats, Floats32, Ints, int_array
from fascicle.core.document import Document
from fascicle.core.printed import as_printed
from fascicle.core.tags import tag_scheme
from fascicle.errors import FormatError, InputError, Place, explain_errors
from fascicle.formats.distributions import SCHEMA, open_headed
from fascicle.text.annotator import Meaning, document_words
from fascicle.text.segment import segmenter

STEPS: Final = 255  # of a probability
ERROR: Final = 1 / (2 * STEPS)
HARD: Final = STEPS + 1  # added to the probability of a tag of the answer
_HASH: Final = 32  # hexadecimal digits: 128 bits
_MAKE: Final = "make one with fascicle label MODEL TEXTS -o FILE"


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """Header of a file: facts that are the same for all documents.

    Attributes:
        model: name of the predictor.
        sha256: hash of all that determines its predictions.
        release: of Fascicle, that wrote the file.
        types: of the predictor, in the order of the tags.
        scheme: of the tags, ``"BIO"`` or ``"IO"``.
        meaning: of a probability, see ``text.annotator.Meaning``.
        segmenter: name and version of the segmenter for texts without marked words.
        floor: least probability that is kept.
        note: note of the user on the licences of texts and model.
        options: of the run, by name.
    """

    model: str
    sha256: str
    release: str
    types: tuple[str, ...]
    scheme: str
    meaning: Meaning
    segmenter: str
    floor: float
    note: str = ""
    options: dict[str, str] = {}

    @property
    def tags(self) -> tuple[str, ...]:
        """Names of the tags, in the order of the columns."""
        return tag_scheme(self.scheme).labels(self.types)[1:]


class _First(Header, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Header with the version of its schema, as it is stored in the file."""

    fascicle_labels: int


class PackedLabels(
    msgspec.Struct, frozen=True, array_like=True, tag="d", forbid_unknown_fields=True
):
    """Packed labels of one document.

    Attributes:
        id: of the document.
        text: first digits of the hash of its text, see `text_key`.
        characters: of the text.
        words: number of words.
        at: word of each tag, counted from the word of the previous tag; the first from 0.
        tag: column of each tag.
        value: probability of each tag in 255ths, plus 256 if the tag is in the answer.
    """

    id: str
    text: str
    characters: int
    words: int
    at: list[int]
    tag: list[int]
    value: list[int]


class End(msgspec.Struct, frozen=True, array_like=True, tag="end", forbid_unknown_fields=True):
    """Last line of a file, with the number of documents.

    Attributes:
        documents: in the file.
        words: of them.
        mentions: type -> mentions of the answers.
        left_out: reason -> documents that were given, and are not in the file.
    """

    documents: int
    words: int
    mentions: dict[str, int]
    left_out: dict[str, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class Labels:
    """Labels of the words of one document.

    Attributes:
        document: with its text.
        words: ranges in the text, ``[n, 2]``.
        tags: those of the answer, ``[n, tags]``.
        probabilities: of each tag, ``[n, tags]``; 0 below the floor.
    """

    document: Document
    words: Ints
    tags: Bools
    probabilities: Floats32


_ENCODER: Final = msgspec.json.Encoder()
_FIRST: Final = msgspec.json.Decoder(_First)
_LINE: Final = msgspec.json.Decoder(PackedLabels | End)


def text_key(document: Document) -> str:
    """Returns the first 128 bits of the SHA-256 of a text in UTF-8, in hexadecimal; marked words
    are included.
    """
    digest = hashlib.sha256(document.text.encode())
    if document.words is not None:
        digest.update(b"\0" + np.array(document.words, dtype="<i8").tobytes())
    return digest.hexdigest()[:_HASH]


def pack_labels(
    document: Document, *, tags: Bools, probabilities: Floats, floor: float
) -> PackedLabels:
    """Packs the labels of one document.

    Args:
        document: with its text.
        tags: of the answer, ``[n, tags]``.
        probabilities: of each tag, ``[n, tags]``, from 0 to 1.
        floor: least probability that is kept; a tag of the answer is always kept.
    """
    steps = np.rint(probabilities * STEPS).astype(np.int64)
    word, tag = np.nonzero(tags | ((probabilities >= floor) & (steps > 0)))
    return PackedLabels(
        id=document.id,
        text=text_key(document),
        characters=len(document.text),
        words=len(tags),
        at=np.diff(word, prepend=0).tolist(),
        tag=tag.tolist(),
        value=(steps[word, tag] + HARD * tags[word, tag]).tolist(),
    )


def unpack_labels(entry: PackedLabels, document: Document, words: Ints, *, tags: int) -> Labels:
    """Unpacks the labels of one document.

    Args:
        entry: of the document.
        document: with its text.
        words: of the document, ``[n, 2]``.
        tags: how many there are.
    """
    hard = np.zeros((len(words), tags), dtype=bool)
    probabilities = np.zeros((len(words), tags), dtype=np.float32)
    word, value = np.cumsum(entry.at, dtype=np.int64), int_array(entry.value)
    tag = int_array(entry.tag)
    hard[word, tag] = value >= HARD
    probabilities[word, tag] = (value % HARD) / STEPS
    return Labels(document=document, words=words, tags=hard, probabilities=probabilities)


def pack_lines(entries: Iterable[Header | PackedLabels | End]) -> bytes:
    """Packs lines into one gzip member; the same lines give the same bytes."""
    place = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=place, mtime=0) as stream:
        for entry in entries:
            if isinstance(entry, Header):
                entry = _First(fascicle_labels=SCHEMA, **msgspec.structs.asdict(entry))
            stream.write(_ENCODER.encode(entry) + b"\n")
    return place.getvalue()


def read_header(path: str | Path) -> Header:
    """Reads the header of a file.

    Raises:
        InputError: see `read_entries`.
    """
    return read_entries(path)[0]


def read_entries(path: str | Path) -> tuple[Header, Iterator[PackedLabels | End]]:
    """Opens a file for reading.

    Returns:
        The header, and the documents as a stream; the last one given out is the `End`.

    Raises:
        InputError: it cannot be read, or is empty.
        FormatError: another kind of file, or (while streaming) one that is cut off, or a line that
            breaks the rules.
    """
    header, numbered = open_headed(
        path, Header, _FIRST, check=_check_header, what="a label file", make=_MAKE
    )
    return header, _entries(numbered, path, tags=len(header.tags))


def _check_header(header: Header) -> None:
    if not header.types:
        raise ValueError("it names no type")
    tag_scheme(header.scheme).labels(header.types)


def read_labels(path: str | Path, documents: Iterable[Document]) -> Iterator[Labels]:
    """Joins the labels of a file with the documents that they are about, in bounded memory.

    Args:
        path: of the file.
        documents: in the order in which they were labelled; those that the file does not hold
            (which were left out, or were not given) are passed over.

    Yields:
        The labels of each document of the file, in order; the documents are as they are printed, or
        as they are if an older file is about that.

    Raises:
        InputError: the file cannot be read; or it was made for other texts.
        FormatError: see `read_entries`; documents yielded before are valid.
    """
    header, entries = read_entries(path)
    rules, tags = segmenter(header.segmenter).name, len(header.tags)
    texts = iter(documents)
    for entry in entries:
        if isinstance(entry, End):
            return
        document = next((document for document in texts if document.id == entry.id), None)
        labels = document and _labels_of(document, entry, rules=rules, tags=tags)
        if labels:
            yield labels
            continue
        why = (
            f"for other text: {entry.id!r} was another text when it was labelled"
            if document
            else f"of {entry.id!r}, which is not among the texts, or not in the order in which "
            "they were labelled"
        )
        advice = "give the same texts, or label these with fascicle label"
        raise InputError(f"{path} has labels {why}; {advice}", file=str(path), key=entry.id)


def _labels_of(document: Document, entry: PackedLabels, *, rules: str, tags: int) -> Labels | None:
    """Returns the labels of a document as it is printed, or as it is, for older files are about
    that; ``None`` if they are about another text.
    """
    for view in (as_printed(document), document):
        words = document_words(view, rules)
        if _is_about(entry, view, words):
            return unpack_labels(entry, view, words, tags=tags)
    return None


def _is_about(entry: PackedLabels, document: Document, words: Ints) -> bool:
    """True if an entry was made of the text of a document, divided into the same words."""
    return (
        entry.characters == len(document.text)
        and entry.words == len(words)
        and entry.text == text_key(document)
    )


def _entries(
    numbered: Iterator[tuple[int, str]], path: str | Path, *, tags: int
) -> Iterator[PackedLabels | End]:
    count = 0
    try:
        for number, line in numbered:
            with explain_errors("not a line of a label file", at=Place(path, number)):
                entry = _LINE.decode(line)
                _check(entry, tags=tags, before=count)
            if isinstance(entry, End):
                if (more := next(numbered, None)) is not None:
                    raise FormatError(
                        "a line behind the last one of a label file", at=Place(path, more[0])
                    )
                yield entry
                return
            yield entry
            count += 1
    except FormatError as error:
        if error.code != "damaged":
            raise
    raise FormatError(
        f"the file is cut off or damaged after its first {count:,} documents; go on with fascicle "
        "label --resume, or fetch it again",
        at=str(path),
        code="damaged",
    )


def _check(entry: PackedLabels | End, *, tags: int, before: int) -> None:
    """Raises an error for an entry that cannot be unpacked.

    Raises:
        ValueError: the entry breaks a rule; the message names it.
    """
    if isinstance(entry, End):
        if entry.documents != before:
            raise ValueError(
                f"it counts {entry.documents:,} documents, and {before:,} stand before it"
            )
        return
    if not len(entry.at) == len(entry.tag) == len(entry.value):
        raise ValueError("its lists are of different lengths")
    if not 0 <= entry.words <= entry.characters:
        raise ValueError(f"{entry.words:,} words in {entry.characters:,} characters")
    if not _increase(entry, tags):
        raise ValueError(
            "its tags are not in order, or not among its words and those of the header"
        )
    if entry.value and not (min(entry.value) >= 0 and max(entry.value) <= HARD + STEPS):
        raise ValueError("a probability is below 0 or above 1")


def _increase(entry: PackedLabels, tags: int) -> bool:
    """True if words and tags are in order, without repeated pairs or numbers that are too large."""
    word, before = 0, -1
    for step, tag in zip(entry.at, entry.tag, strict=True):
        word += step
        key = word * tags + tag
        if not (step >= 0 and 0 <= tag < tags and before < key):
            return False
        before = key
    return word < max(entry.words, 1) and (entry.words > 0 or not entry.at)
