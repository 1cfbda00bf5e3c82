"""What the oracle knows of a format: how a file is written, and which faults it can have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tests.formats.oracle.drafts import Draft, Taste, page
from tests.formats.oracle.hand import (
    BARE,
    BY_ONE,
    BYTES,
    CRLF,
    EQUAL,
    FAULTS,
    NESTED,
    NO_END,
    PASSAGE,
    SAME_ID,
    UNDERSCORE,
    UNEVEN,
    URL,
    UTF16,
    WHOLE,
    Hand,
)
from tests.formats.oracle.judging import Page

Files = dict[str, bytes]
Why = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Oracle:
    """One format as its own description has it.

    Attributes:
        name: of the format, or of the shape of its records.
        reads: the name that `fascicle.read` knows it by.
        taste: what its documents can hold.
        write: documents and a hand -> the files.
        join: what stands between two parts of a document.
        path: what is read: a file, or a folder of files.
        named: whether the format has ids of documents.
        senseless: fault -> why the format cannot have it.
        hidden: fault -> why nobody can see it in a file; what lies outside the text can be seen all
            the same.
        pages: documents -> what they are when they are read.
        loose: faults after which the blanks between two parts are not known any more.
        options: of the reader.
        needs: module of a package without which its files cannot be read.
    """

    name: str
    reads: str
    taste: Taste
    write: Callable[[Sequence[Draft], Hand], Files]
    join: str = " "
    path: str
    named: bool = True
    senseless: Why = field(default_factory=dict)
    hidden: Why = field(default_factory=dict)
    pages: Callable[[Sequence[Draft], Hand], list[Page]] | None = None
    loose: tuple[str, ...] = ()
    options: Callable[[], Any] = lambda: None
    needs: str = ""

    @property
    def faults(self) -> list[str]:
        """The faults that its files can have, those that nobody can see among them."""
        return [one for one in FAULTS if one not in self.senseless]

    def wanted(self, drafts: Sequence[Draft], hand: Hand) -> list[Page]:
        """The documents that a file describes."""
        if self.pages is not None:
            return self.pages(drafts, hand)
        made = [page(one, self.join, concept=self.taste.linked) for one in drafts]
        return made if self.named else [Page(one.text, one.marks) for one in made]


def because(why: str, *faults: str) -> dict[str, str]:
    """The same reason for several faults."""
    return dict.fromkeys(faults, why)


OFFSETS: Final = (BY_ONE, PASSAGE, BYTES, UTF16)
NO_IDS_OF_CONCEPTS: Final = because("it has no place for concepts", BARE, WHOLE, URL, UNDERSCORE)
ONE_PLACE: Final = because("it has no place for a vocabulary beside an id", WHOLE)
ITS_FORM: Final = because("an id beside its vocabulary is the form of the format itself", BARE)
ONE_PART: Final = because("it has one part, so offsets count from its beginning anyway", PASSAGE)
NO_COLUMNS: Final = because("it has no columns", UNEVEN)
NO_MARKS: Final = because("it has no mentions", *OFFSETS, NESTED, EQUAL) | NO_IDS_OF_CONCEPTS
ONE_LINE: Final = because("its line ends mean nothing: any blanks may stand there", CRLF, NO_END)
BINARY: Final = because("it is binary and has no lines", CRLF, NO_END, UNEVEN)
WORDS: Final = because("it counts words, not characters", BYTES, UTF16)
TAGS: Final = because("its tags stand beside the words and count nothing", *OFFSETS)
FLAT: Final = because("a tag for each word cannot say that mentions overlap", NESTED, EQUAL)
NO_NAMES: Final = because("it has no ids of documents", SAME_ID)
BLIND: Final = because("no text stands beside the offsets", BY_ONE, BYTES, UTF16)
