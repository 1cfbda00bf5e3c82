"""Label files: what is read is what was said, within a rounding that is stated; what is damaged
is an error.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from itertools import count
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.arrays import Bools, Floats
from fascicle.core.document import Document
from fascicle.errors import FascicleError, FormatError, InputError
from fascicle.formats.weak_labels import (
    ERROR,
    End,
    Header,
    Labels,
    PackedLabels,
    pack_labels,
    pack_lines,
    read_entries,
    read_header,
    read_labels,
    text_key,
    unpack_labels,
)
from fascicle.text.annotator import document_words

HEADER = Header(
    model="teacher",
    sha256="0" * 64,
    release="1",
    types=("A", "B"),
    scheme="BIO",
    meaning="marginal",
    segmenter="rules@1",
    floor=0.01,
)
TEXTS = ("no pain in the lung .", "", "fever", "the patient took aspirin")
DOCUMENTS = [Document(id=f"d{number}", text=text) for number, text in enumerate(TEXTS)]


def drawn(documents: list[Document]) -> list[tuple[Document, Bools, Floats]]:
    rng = np.random.default_rng(3)
    found = []
    for document in documents:
        shape = (len(document_words(document, "rules@1")), len(HEADER.tags))
        found.append((document, rng.random(shape) < 0.2, rng.random(shape) ** 8))
    return found


def file_of(
    path: Path, rows: list[tuple[Document, Bools, Floats]], *, header: Header = HEADER
) -> Path:
    entries = [pack_labels(d, tags=t, probabilities=p, floor=header.floor) for d, t, p in rows]
    end = End(len(rows), sum(len(t) for _, t, _ in rows), {"A": 1}, {})
    path.write_bytes(
        pack_lines([header]) + pack_lines(entries[:2]) + pack_lines(entries[2:]) + pack_lines([end])
    )
    return path


_TABLES = st.integers(0, 6).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=n, max_size=n),
        st.lists(st.lists(st.floats(0, 1), min_size=4, max_size=4), min_size=n, max_size=n),
    )
)


@given(_TABLES, st.sampled_from([0.0001, 0.01, 0.3]))
def test_what_is_unpacked_is_what_was_packed_within_the_rounding(
    tables: tuple[list[list[bool]], list[list[float]]], floor: float
) -> None:
    tags = np.array(tables[0], dtype=bool).reshape(-1, 4)
    probabilities = np.array(tables[1], dtype=np.float64).reshape(-1, 4)
    document = Document(id="d", text="x " * len(tags))
    entry = msgspec.json.decode(
        msgspec.json.encode(
            pack_labels(document, tags=tags, probabilities=probabilities, floor=floor)
        ),
        type=PackedLabels,
    )
    found = unpack_labels(entry, document, document_words(document, "rules@1"), tags=4)
    np.testing.assert_array_equal(found.tags, tags)
    kept = (probabilities >= max(floor, ERROR)) | tags
    assert (np.abs(found.probabilities - probabilities)[kept] <= ERROR + 1e-7).all()
    assert (found.probabilities[~kept & (probabilities < floor)] == 0).all()


def test_a_file_gives_back_each_document(tmp_path: Path) -> None:
    rows = drawn(DOCUMENTS)
    path = file_of(tmp_path / "x.labels", rows)
    assert read_header(path) == HEADER
    found = list(read_labels(path, DOCUMENTS))
    assert [one.document for one in found] == DOCUMENTS
    for one, (_, tags, probabilities) in zip(found, rows, strict=True):
        np.testing.assert_array_equal(one.tags, tags)
        kept = (probabilities >= HEADER.floor) | tags
        assert np.allclose(one.probabilities, np.where(kept, probabilities, 0), atol=ERROR + 1e-6)
    assert path.read_bytes() == file_of(tmp_path / "again", rows).read_bytes()
    content = gzip.decompress(path.read_bytes()).decode()
    assert "aspirin" not in content


def test_labels_that_were_made_before_hidden_characters_were_left_out_are_read(
    tmp_path: Path,
) -> None:
    older = Document(id="d0", text="asp\u00adirin ,")
    path = file_of(tmp_path / "x.labels", drawn([older]))
    (labels,) = read_labels(path, [older])
    assert labels.document == older


def test_texts_that_were_left_out_are_passed_over_and_others_are_an_error(tmp_path: Path) -> None:
    path = file_of(tmp_path / "x.labels", drawn([DOCUMENTS[0], DOCUMENTS[3]]))
    assert [one.document.id for one in read_labels(path, DOCUMENTS)] == ["d0", "d3"]
    for other in (DOCUMENTS[:3], DOCUMENTS[::-1], []):
        with pytest.raises(InputError) as error:
            list(read_labels(path, other))
        assert error.value.key in ("d0", "d3")


@pytest.mark.parametrize(
    "other",
    [
        Document(id="d3", text="the patient took caffein"),
        Document(
            id="d3", text="the patient took aspirin", words=((0, 3), (4, 11), (12, 16), (17, 24))
        ),
    ],
)
def test_labels_for_other_text_are_an_error(tmp_path: Path, other: Document) -> None:
    path = file_of(tmp_path / "x.labels", drawn(DOCUMENTS))
    found = read_labels(path, [*DOCUMENTS[:3], other])
    assert [next(found).document.id for _ in range(3)] == ["d0", "d1", "d2"]
    with pytest.raises(InputError, match="other text") as error:
        next(found)
    assert (error.value.key, error.value.file) == ("d3", str(path))


def test_words_that_a_document_marks_are_part_of_its_key() -> None:
    plain, marked = (
        Document(id="d", text="no pain"),
        Document(id="d", text="no pain", words=((0, 7),)),
    )
    assert len(text_key(plain)) == len(text_key(marked)) == 32
    assert text_key(plain) != text_key(marked)


def test_a_file_that_is_cut_off_anywhere_is_an_error_after_what_is_whole(tmp_path: Path) -> None:
    content = file_of(tmp_path / "x.labels", drawn(DOCUMENTS)).read_bytes()
    whole = list(read_labels(tmp_path / "x.labels", DOCUMENTS))
    for size in range(len(content)):
        path = tmp_path / "cut.labels"
        path.write_bytes(content[:size])
        seen: list[Labels] = []
        with pytest.raises(InputError):
            seen.extend(read_labels(path, DOCUMENTS))
        for one, expected in zip(seen, whole, strict=False):
            np.testing.assert_array_equal(one.tags, expected.tags)
            np.testing.assert_array_equal(one.probabilities, expected.probabilities)


def changed(place: int, value: object) -> Callable[[list[bytes]], list[bytes]]:
    def change(lines: list[bytes]) -> list[bytes]:
        row = msgspec.json.decode(lines[1])
        row[place] = value
        return [lines[0], msgspec.json.encode(row), *lines[2:]]

    return change


BROKEN: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "no first line": lambda lines: lines[1:],
    "another version": lambda lines: [lines[0].replace(b'labels":1', b'labels":2'), *lines[1:]],
    "no types": lambda lines: [lines[0].replace(b'["A","B"]', b"[]"), *lines[1:]],
    "a type twice": lambda lines: [lines[0].replace(b'"B"]', b'"A"]'), *lines[1:]],
    "another scheme": lambda lines: [lines[0].replace(b'"BIO"', b'"BIOES"'), *lines[1:]],
    "a document is missing": lambda lines: [lines[0], *lines[2:]],
    "a line behind the end": lambda lines: [*lines, lines[1]],
    "no JSON": lambda lines: [lines[0], b"[", *lines[1:]],
    "deep": lambda lines: [lines[0], b"[" * 100_000, *lines[1:]],
    "a tag beyond the header": changed(6, [4]),
    "a word beyond the text": changed(5, [6]),
    "a word before the text": changed(5, [-1]),
    "a probability above 1": changed(7, [512]),
    "a probability below 0": changed(7, [-1]),
    "lists of different lengths": changed(7, [1, 2]),
    "more words than characters": changed(4, 99),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_breaks_the_rules_is_refused(tmp_path: Path, name: str) -> None:
    tags = np.zeros((6, 4), dtype=bool)
    tags[2, 1] = True
    path = file_of(tmp_path / "x.labels", [(DOCUMENTS[0], tags, tags.astype(float))])
    lines = gzip.decompress(path.read_bytes()).splitlines()
    path.write_bytes(gzip.compress(b"\n".join(BROKEN[name](lines)) + b"\n"))
    with pytest.raises(FormatError):
        for _ in zip(count(), read_entries(path)[1], strict=False):
            pass


@given(st.binary(max_size=60))
def test_no_bytes_are_more_than_an_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("x") / "x.labels"
    for given_content in (content, pack_lines([HEADER]) + gzip.compress(content)):
        path.write_bytes(given_content)
        with pytest.raises(FascicleError):
            list(read_entries(path)[1])
