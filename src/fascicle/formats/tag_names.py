"""Tags in other notations: numbers with names, bare types, and those of CoNLL-2012 and CoNLL-U.

Numbers have names in Hugging Face datasets. CoNLL-2012 (https://conll.cemantix.org/2012/data.html)
has brackets, and CoNLL-U (https://universaldependencies.org/format.html) mentions in its last
column.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from fascicle.core.files.source import STDIN, Source, read_whole_text
from fascicle.core.tags import is_tag, tag_advice
from fascicle.errors import FormatError, UsageError, explain_errors

_INFO: Final = "dataset_info.json"
_NAMES: Final = "names"


def label_names(labels: str, *, field: str) -> tuple[str, ...]:
    """Returns the names of the tags, in the order of their numbers.

    Args:
        labels: names with commas between them, or a ``.json`` file: ``dataset_info.json``, or a
            list of names.
        field: name of the field of the records whose tag names the file holds.

    Raises:
        InputError: the file cannot be read.
        FormatError: it does not hold the names.
        UsageError: less than two names, or one that is empty.
    """
    if labels.lower().endswith(".json"):
        return _of_file(labels, field)
    check_labels(labels)
    return tuple(name.strip() for name in labels.split(","))


def check_labels(labels: str) -> None:
    """Checks names separated by commas; a file name or an empty value is accepted here and checked
    later.

    Raises:
        UsageError: less than two names, or one that is empty.
    """
    names = [name.strip() for name in labels.split(",")]
    if not labels or labels.lower().endswith(".json"):
        return
    if len(names) < 2 or not all(names):
        raise UsageError(
            f"labels {labels!r} cannot be read; give names in the order of their numbers, as "
            "O,B-PER,I-PER"
        )


def names_beside(path: str, *, field: str) -> tuple[str, ...]:
    """Returns the names from the ``dataset_info.json`` in the folder of a file; empty if there
    is no such file.
    """
    place = Path(path).parent / _INFO
    return _of_file(os.fspath(place), field) if path != STDIN and place.is_file() else ()


def tags_by_number(tags: Sequence[Any], names: Sequence[str]) -> list[str]:
    """Converts tag numbers to their names.

    Names without prefixes (``O``, ``person``) are tags of the scheme IO.

    Raises:
        ValueError: a tag that is no number of a name.
    """
    wrong = next((tag for tag in tags if type(tag) is not int or not 0 <= tag < len(names)), None)
    if wrong is not None:
        raise ValueError(
            f"the tag {wrong!r} is not the number of a name; there are {len(names)} names, from 0"
        )
    is_bare = not any(is_tag(name) for name in names if name != "O")
    tag_texts = [names[tag] for tag in tags]
    return add_io_prefixes(tag_texts) if is_bare else tag_texts


def add_io_prefixes(tags: Sequence[str]) -> list[str]:
    """Converts bare types (``O``, ``person``) to tags of the scheme IO.

    Raises:
        ValueError: a tag that has a prefix, or is empty.
    """
    wrong = next((tag for tag in tags if tag != "O" and (is_tag(tag) or not tag)), None)
    lone = next((tag for tag in tags if len(tag) == 1 and tag != "O" and tag_advice(tag)), None)
    if lone is not None:
        raise ValueError(f"the tag {lone!r} is a prefix, no type; {tag_advice(lone)}")
    if wrong is not None:
        raise ValueError(
            f"the tag {wrong!r} is not a bare type; tags are read as bare types, so none may "
            "have a prefix"
        )
    return [tag if tag == "O" else f"I-{tag}" for tag in tags]


def _of_file(path: str, field: str) -> tuple[str, ...]:
    with explain_errors(f"{path}: not JSON"):
        value = msgspec.json.decode(read_whole_text(Source(path=path)))
    lists = {names for names in _lists(value, field) if names}
    if len(lists) != 1:
        several = "several lists" if lists else "no list"
        raise FormatError(
            f"{path} has {several} of names for the field {field!r}; give a dataset_info.json "
            "with this feature, a "
            'list of names, or the names themselves with labels="O,B-PER,I-PER"'
        )
    return lists.pop()


def _lists(value: Any, field: str) -> Iterator[tuple[str, ...]]:
    """Yields the lists of names in a file: a plain list, or those of a feature in one
    configuration or several.
    """
    if isinstance(value, list):
        yield _texts(value)
        return
    configurations = [value, *value.values()] if isinstance(value, dict) else []
    for configuration in configurations:
        features = configuration.get("features") if isinstance(configuration, dict) else None
        if isinstance(features, dict):
            yield names_of_feature(features.get(field))


def names_of_feature(feature: Any) -> tuple[str, ...]:
    """Returns the names of a list of class labels, in the layout of any version of the library."""
    for _ in range(2):
        if isinstance(feature, list) and len(feature) == 1:
            feature = feature[0]
        elif isinstance(feature, dict) and _NAMES not in feature:
            feature = feature.get("feature")
    return _texts(feature.get(_NAMES)) if isinstance(feature, dict) else ()


def _texts(value: Any) -> tuple[str, ...]:
    is_list = isinstance(value, list) and all(isinstance(text, str) and text for text in value)
    return tuple(value) if is_list else ()


BEGIN: Final = "#begin document"
DOCSTART: Final = "-DOCSTART-"
_END: Final = "#end document"
# Lines of facts about a sentence or a document; another line that begins with # may be a token.
_FACT: Final = re.compile(r"#\s?(?:[\w.:-]+\s*=\s|(?:newdoc|newpar)\b)")
# each takes time by the length of a line, however long: no part of a line is looked at again
_NEWDOC: Final = re.compile(r"#\s?newdoc\b(?:\s+id\s*=\s*+(?P<id>.*\S))?")
_DOCSTART_ID: Final = re.compile(
    rf"{DOCSTART}\s(?:[^(]*+\((?P<id>.*\S)\s*+\)|\s*+(?P<word>(?=\S*\d)\S++)$)"
)
_PART: Final = re.compile(r"part\s*0*(0|[1-9]\d*)|")
_BRACKETS: Final = re.compile(r"(?:\((?P<kind>[^()*]+))?\*?(?P<end>\))?")
_NUMBER: Final = re.compile(r"\d+(?P<part>[-.]\d+)?")
# prefix of a token -> those of its first word, the words between, and its last word
_PARTS: Final = MappingProxyType(
    {"B": "BII", "I": "III", "E": "IIE", "L": "IIL", "S": "BIE", "U": "BIL"}
)
_NAMED: Final = re.compile(r"(?:^|\|)(?:NE|NER|Entity|entity|ner|ne)=([^|]*)")


def document_mark(line: str) -> str | None:
    """Returns the id that a line gives to the document which begins there, empty where it gives
    none; ``None`` if no document begins.
    """
    if line.startswith(DOCSTART):
        match = _DOCSTART_ID.match(line)
        word = (match and match["word"]) or ""
        return (match and match["id"]) or ("" if is_tag(word) else word)
    if line.startswith(BEGIN):  # each part is a document
        name, sign, end = line.removeprefix(BEGIN).strip().rpartition(";")
        part = _PART.fullmatch(end.strip()) if sign else None
        name = (name.rstrip() if part else f"{name}{sign}{end}").removeprefix("(").removesuffix(")")
        return "_".join(filter(None, (name, part and part[1])))
    mark = _NEWDOC.match(line)
    return mark["id"] or "" if mark and not is_tag(line.split()[-1]) else None


def is_fact(line: str) -> bool:
    """True if a line is a fact about a sentence or a document, and no token."""
    return line.startswith(_END) or (_FACT.match(line) is not None and not is_tag(line.split()[-1]))


class Conll2012Rows:
    """Reader of the rows of CoNLL-2012: the word is column 3, and brackets for names are column
    10.
    """

    def __init__(self) -> None:
        """Starts outside of any name."""
        self._open = ""

    def __call__(self, columns: Sequence[str]) -> tuple[str, list[str]]:
        """Returns the token of a row and its tag.

        Raises:
            IndexError: too few columns.
            ValueError: brackets that do not match.
        """
        match = _BRACKETS.fullmatch(columns[10])
        kind, end = (match["kind"], match["end"]) if match else (None, None)
        if match is None or (kind and self._open) or (end and not (self._open or kind)):
            raise ValueError(
                f"the brackets of {columns[10]!r} in column 10 do not match; allowed are "
                "(X*, *, *) and (X)"
            )
        tag = f"B-{kind}" if kind else f"I-{self._open}" if self._open else "O"
        self._open = "" if end else kind or self._open
        return columns[3], [tag]


class ConlluRows:
    """Reader of the rows of CoNLL-U, whose tags are in MISC.

    The tag of a token of several words is that of its words, if these have none: Stanza writes
    tags beside tokens.
    """

    def __init__(self) -> None:
        """Starts outside of any token of several words."""
        self._first = self._last = "0"
        self._tag = "O"
        self._inherited: list[list[str]] = []

    def __call__(self, columns: Sequence[str]) -> tuple[str, list[str]] | None:
        """Returns the word of a row and its tag; ``None`` for tokens of several words and empty
        nodes.

        Raises:
            ValueError: names in another notation than tags.
        """
        number = _NUMBER.fullmatch(columns[0])
        part = (number and number["part"]) or ""
        if part.startswith("."):
            return None
        match = _NAMED.search(columns[9])
        tag = match[1] if match is not None and match[1] != "_" else "O"
        if not is_tag(tag):
            raise ValueError(
                f"the names in MISC ({tag!r}) are not tags such as B-PER; convert them first"
            )
        if part:
            (self._first, self._last), self._tag = columns[0].split("-"), tag
            self._inherited = []
            return None
        part_tag = self._tag_of_part(columns[0])
        tags = [part_tag if tag == "O" else tag]
        if tag == "O":
            self._inherited.append(tags)
        elif part_tag != "O":
            self._tag = "O"
            for earlier in self._inherited:
                earlier[:] = "O"  # the words have tags of their own
        return columns[1], tags

    def _tag_of_part(self, number: str) -> str:
        """Returns the tag of a word as a part of its token; ``O`` behind the token."""
        if self._tag == "O" or (len(number), number) > (len(self._last), self._last):
            return "O"
        place = 0 if number == self._first else 2 if number == self._last else 1
        return _PARTS[self._tag[0]][place] + self._tag[1:]


def is_conllu(columns: Sequence[str]) -> bool:
    """True if a row has the ten columns of CoNLL-U, and no tag in the last."""
    return (
        len(columns) == 10 and _NUMBER.fullmatch(columns[0]) is not None and not is_tag(columns[9])
    )


_WORD_NUMBER: Final = re.compile(r"(?:\d+-)?(\d{1,9})")


def columns_beside_numbers(lines: Iterable[str]) -> tuple[int, ...]:
    """Returns the columns of words and tags if the first column has tags, only counts words, or is
    the same in each sentence.

    Args:
        lines: the beginning of a file.

    Returns:
        The column of words and those of tags; empty if the first column may hold words.
    """
    sentences = [sentence for sentence in _sentences(lines) if len(sentence) > 1]
    rows = list(chain(*sentences))
    width = min(map(len, rows), default=0)
    if width < 3 or any(map(is_conllu, rows)):
        return ()
    columns = list(zip(*(row[:width] for row in rows), strict=True))
    if all(map(is_tag, columns[0])) and len(set(columns[0])) > 1:
        return (next(filter(lambda at: _has_words(columns[at]), range(1, width)), 1), 0)
    words = columns[1]
    if not _has_words(words):
        return ()
    if not (all(map(_counts, sentences)) or all(map(_repeats, sentences))):
        return ()
    tagged = [number for number in range(2, width) if all(map(is_tag, columns[number]))]
    return (1, *(tagged or [width - 1]))


def _has_words(column: Sequence[str]) -> bool:
    """True if a column has letters, and not only tags."""
    return any(map(str.isalpha, "".join(column))) and not all(map(is_tag, column))


def _sentences(lines: Iterable[str]) -> Iterator[list[list[str]]]:
    """Yields the rows of each sentence, divided into columns."""
    for is_row, group in groupby(lines, _is_row):
        if is_row:
            yield [line.split("\t") if "\t" in line else line.split() for line in group]


def _is_row(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(("#", DOCSTART))


def _counts(block: Sequence[Sequence[str]]) -> bool:
    """True if the first column counts the rows."""
    matches = [_WORD_NUMBER.fullmatch(row[0]) for row in block]
    numbers = [int(match[1]) if match else -1 for match in matches]
    return numbers[0] >= 0 and all(after == before + 1 for before, after in pairwise(numbers))


def _repeats(block: Sequence[Sequence[str]]) -> bool:
    """True if the first column is the same in all rows, and the second is not."""
    return len({row[0] for row in block}) == 1 < len({row[1] for row in block})
