"""Column files with rules of their own: CoNLL-2012, and CoNLL-U with mentions in its last column.

The columns are in https://conll.cemantix.org/2012/data.html and https://universaldependencies.org/format.html.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from fascicle.core.tags import is_tag

BEGIN: Final = "#begin document"
_END: Final = "#end document"
# Lines of facts about a sentence or a document; another line that begins with # may be a token.
_FACT: Final = re.compile(r"#\s?(?:[\w.:-]+\s*=\s|(?:newdoc|newpar)\b)")
_BRACKETS: Final = re.compile(r"(?:\((?P<kind>[^()*]+))?\*?(?P<end>\))?")
_NUMBER: Final = re.compile(r"\d+(?P<part>[-.]\d+)?")
_NAMED: Final = re.compile(r"(?:^|\|)(?:NE|NER|Entity|entity|ner|ne)=([^|]*)")


def is_fact(line: str) -> bool:
    """True if a line is a fact about a sentence or a document, and no token."""
    return line.startswith(_END) or (_FACT.match(line) is not None and not is_tag(line.split()[-1]))


class OfConll2012:
    """Reader of the rows of CoNLL-2012: the word is column 3, and brackets for names are column 10."""

    def __init__(self) -> None:
        """Starts outside of any name."""
        self._open = ""

    def __call__(self, columns: Sequence[str]) -> tuple[str, list[str]]:
        """Returns the token of a row and its tag.

        Raises:
            IndexError: too few columns.
            ValueError: brackets that do not match.
        """
        token, shown = columns[3], columns[10]
        found = _BRACKETS.fullmatch(shown)
        if found is None or (found["kind"] and self._open) or (found["end"] and not (self._open or found["kind"])):
            raise ValueError(f"the brackets of {shown!r} in column 10 do not match; allowed are (X*, *, *) and (X)")
        tag = f"B-{found['kind']}" if found["kind"] else f"I-{self._open}" if self._open else "O"
        self._open = "" if found["end"] else found["kind"] or self._open
        return token, [tag]


def of_conllu(columns: Sequence[str]) -> tuple[str, list[str]] | None:
    """Returns the token of a row of CoNLL-U and its tag, which is in MISC; ``None`` for parts and empty nodes.

    Raises:
        ValueError: names in another notation than tags.
    """
    number = _NUMBER.fullmatch(columns[0])
    if number is not None and number["part"]:
        return None
    found = _NAMED.search(columns[9])
    tag = found[1] if found is not None and found[1] != "_" else "O"
    if not is_tag(tag):
        raise ValueError(f"the names in MISC ({tag!r}) are no tags such as B-PER; convert them first")
    return columns[1], [tag]


def is_conllu(columns: Sequence[str]) -> bool:
    """True if a row has the ten columns of CoNLL-U, and no tag in the last."""
    return len(columns) == 10 and _NUMBER.fullmatch(columns[0]) is not None and not is_tag(columns[9])
