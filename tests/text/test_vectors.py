"""Files of vectors: both text forms, what is left out and counted, what is refused, and the
mapped copy.
"""

from __future__ import annotations

import codecs
import gzip
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.errors import FormatError, InputError, OutputError
from fascicle.text.vectors import (
    StaticVectors,
    VectorReport,
    cache_folder,
    read_vectors,
    write_vectors,
)


def file_of(folder: Path, content: bytes) -> Path:
    path = folder / "words.vec"
    path.write_bytes(content)
    return path


GLOVE = b"the 0.5 1 -2\n<unk> 9 9 9\nB-cell 1e-2 0 3\n"


@pytest.mark.parametrize(
    "content",
    [
        GLOVE,
        b"3 3\n" + GLOVE,
        gzip.compress(GLOVE, mtime=0),
        GLOVE.replace(b"\n", b" \r\n"),
        b"\xef\xbb\xbf3 3\n" + GLOVE,
        b"\xef\xbb\xbf" + GLOVE,
    ],
)
def test_both_forms_give_the_same_rows(tmp_path: Path, content: bytes) -> None:
    found = read_vectors(file_of(tmp_path, content))
    assert list(found.words) == ["the", "<unk>", "B-cell"]
    assert np.array_equal(
        found.matrix, np.array([[0.5, 1, -2], [9, 9, 9], [0.01, 0, 3]], dtype=np.float32)
    )
    assert found.unknown_word == "<unk>"
    assert found.vectors(["B-cell", "unseen"]).tolist() == [[np.float32(0.01), 0, 3], [9, 9, 9]]


def test_without_a_row_for_unknown_words_their_mean_stands_for_them(tmp_path: Path) -> None:
    found = read_vectors(file_of(tmp_path, b"a 1 2\nb 3 6\n"))
    assert found.unknown_word == ""
    assert found.vectors(["c"]).tolist() == [[2, 4]]
    assert found.rows(["b", "c", "a"]).tolist() == [1, -1, 0]


def test_duplicates_and_other_encodings_are_left_out_and_counted(tmp_path: Path) -> None:
    found = read_vectors(file_of(tmp_path, b"a 1 2\nb 3 4\na 5 6\n\xff\xfe 1 1\na 7 8\n"))
    assert found.words == ("a", "b")
    assert found.matrix.tolist() == [[1, 2], [3, 4]]
    assert found.report == VectorReport(
        rows=2, duplicates=2, not_utf8=1, first_duplicate=3, first_not_utf8=4
    )
    assert [re.findall("[0-9]+", said)[0] for said in found.report.sentences()] == ["2", "1"]


def test_a_file_with_fewer_rows_than_its_first_line_says_is_told(tmp_path: Path) -> None:
    path = file_of(tmp_path, b"5 2\na 1 2\na 3 4\n")
    # read, read and kept, from the copy
    for cache in (None, cache_folder(path), cache_folder(path)):
        said = read_vectors(path, cache=cache).report.sentences()
        assert (
            said[-1]
            == "the first line of the file of vectors says 5 rows, but it has 2: it may be cut off"
        )
    assert read_vectors(file_of(tmp_path, b"2 2\na 1 2\na 3 4\n")).report.announced == 0


def test_a_folder_with_files_of_a_user_is_no_place_for_the_copy(tmp_path: Path) -> None:
    path, own = file_of(tmp_path, GLOVE), tmp_path / "own"
    own.mkdir()
    (own / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputError, match=r"'thesis\.txt'"):
        read_vectors(path, cache=own)
    assert [file.name for file in own.iterdir()] == ["thesis.txt"]


def test_a_word_may_hold_blanks(tmp_path: Path) -> None:
    found = read_vectors(file_of(tmp_path, b"a 1 2\n. . . 3 4\nat name@x.org 5 6\n"))
    assert found.words == ("a", ". . .", "at name@x.org")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a 1 2 3\nb 1 2\n", ":2: a row has 2 numbers, but the vectors of this file have 3"),
        (b"a 1 2\nb 1 2 3\n", ":2: a row with more than 2 numbers"),
        (b"2 3\na 1 2\n", ":2: a row has 2 numbers, but the vectors of this file have 3"),
        (b"a 1 2\nb 1 x\n", ":2: a row holds something else than a word and 2 numbers"),
        (b"a 1 2\nb 1 nan\n", ":2: a vector with a number that is not finite"),
        (b"a 1 2\n 1 2\n", ":2: a row without a word"),
        (b"a 1 2\nb 1e39 2\n", ":2: a vector with a number that is not finite"),
        (b"alone\n", ":1: a row without numbers, or with other marks than blanks between them"),
        (b"a\t1\t2\n", ":1: a row without numbers, or with other marks than blanks between them"),
        (gzip.compress(GLOVE, mtime=0)[:-9], "damaged gzip file"),
    ],
)
def test_rows_that_are_none_are_refused_with_their_line(
    tmp_path: Path, content: bytes, said: str
) -> None:
    with pytest.raises(FormatError, match=said):
        read_vectors(file_of(tmp_path, content))


def test_an_empty_file_a_missing_one_and_another_dimension_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no vector"):
        read_vectors(file_of(tmp_path, b"\n"))
    with pytest.raises(InputError, match="there is no file of vectors"):
        read_vectors(tmp_path / "none.vec")
    with pytest.raises(FormatError, match="have 3 numbers each, where 300 are asked for"):
        read_vectors(file_of(tmp_path, GLOVE), dimension=300)


def test_the_mapped_copy_is_used_until_the_file_changes(tmp_path: Path) -> None:
    path = file_of(tmp_path, GLOVE)
    cache = cache_folder(path)
    first = read_vectors(path, cache=cache)
    assert isinstance(first.matrix, np.memmap)
    made = (cache / "matrix.npy").stat().st_mtime_ns
    os.utime(path, (1, 1))  # another time of change, the same content: its hash says so
    again = read_vectors(path, cache=cache)
    assert (cache / "matrix.npy").stat().st_mtime_ns == made
    assert again.words == first.words
    assert again.report == first.report
    path.write_bytes(GLOVE.replace(b"0.5", b"0.7"))  # the same size
    assert read_vectors(path, cache=cache).matrix[0, 0] == np.float32(0.7)
    (cache / "matrix.npy").write_bytes(b"\x93NUMPY")  # a damaged copy is made again
    assert read_vectors(path, cache=cache).matrix[0, 0] == np.float32(0.7)
    with pytest.raises(OutputError):
        read_vectors(path, cache=tmp_path / "missing" / "folder")


@pytest.mark.parametrize("name", ["matrix.npy", "words.json"])
def test_a_mapped_copy_with_a_changed_byte_is_made_again(tmp_path: Path, name: str) -> None:
    path = file_of(tmp_path, GLOVE)
    cache = cache_folder(path)
    read_vectors(path, cache=cache)
    plain = read_vectors(path)
    content = (cache / name).read_bytes()
    at = content.index(b'"') + 1 if name == "words.json" else len(content) - 2
    (cache / name).write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    for _ in range(2):
        found = read_vectors(path, cache=cache)
        assert found.words == plain.words
        assert np.array_equal(found.matrix, plain.matrix)
    assert (cache / name).read_bytes() == content


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=5),
        st.lists(st.floats(-1e6, 1e6, width=32), min_size=3, max_size=3),
        min_size=1,
    )
)
def test_what_is_written_is_read_again(rows: dict[str, list[float]]) -> None:
    import tempfile

    vectors = StaticVectors(
        words=tuple(rows), matrix=np.array(list(rows.values()), dtype=np.float32)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.vec.gz"
        write_vectors(path, vectors)
        found = read_vectors(path)
    assert tuple(found.words) == tuple(rows)
    assert np.allclose(found.matrix, vectors.matrix, rtol=1e-5, atol=1e-30)


def test_a_word_with_a_blank_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds white space"):
        write_vectors(
            tmp_path / "a.vec", StaticVectors(words=("a b",), matrix=np.ones((1, 2), np.float32))
        )


def test_a_first_word_that_would_lose_its_mark_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "two-marks.txt").write_bytes(2 * codecs.BOM_UTF8 + b"lung 0.5 -1\n")
    with pytest.raises(InputError, match="byte order mark"):
        write_vectors(tmp_path / "again.txt", read_vectors(tmp_path / "two-marks.txt"))
