"""Tags of the lines of citations: of .nbib, RIS, Web of Science and EndNote (.enw).

Those of .nbib are in https://www.nlm.nih.gov/bsd/mms/medlineelements.html, those of RIS in
https://en.wikipedia.org/wiki/RIS_(file_format), those of Web of Science in the help of its export,
and those of .enw in https://en.wikipedia.org/wiki/EndNote#Tags_and_fields.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Tags:
    """Tags of a kind of export; of several tags for one part the first that a citation has is read.

    Attributes:
        first: what the first line of a citation begins with.
        line: a line with a tag.
        begin: the tag that begins a citation; in .nbib none, see `ONCE`.
        last: the tag that ends a citation.
        frame: tags of the file, outside of citations.
        listed: the tag of keywords, which is written once, with the next ones on their own lines.
        between: what stands between title and abstract.
        title: tags of the title.
        abstract: tags of the abstract.
        id: tags of the id.
        meta: tags of other facts.
    """

    first: re.Pattern[str]
    line: re.Pattern[str]
    title: tuple[str, ...]
    abstract: tuple[str, ...]
    id: tuple[str, ...]
    meta: Mapping[str, tuple[str, ...]]
    begin: str = ""
    last: str = ""
    frame: tuple[str, ...] = ()
    listed: str = "KW"
    between: str = "\n\n"  # many titles have no full stop: a line end alone ends no sentence


ONCE: Final = ("PMID", "PMC")  # of .nbib: no citation has two of them
RIS_TYPE: Final = re.compile(r"TY {1,2}- ?[A-Z]+ *")
NBIB: Final = Tags(
    first=re.compile(r"(?:PMID|PMC |TI  )- "),
    line=re.compile(r"(?=.{4}-)([A-Z][A-Z0-9]{1,3}) *- ?(.*)"),
    between="\n",  # as in MEDLINE
    title=("TI", "BTI", "TT"),
    abstract=("AB",),
    id=("PMID", "PMC", "LID", "AID"),
    meta=MappingProxyType(
        {
            "doi": ("LID", "AID"),
            "pmc": ("PMC",),
            "journal": ("JT", "TA"),
            "year": ("DP",),
            "language": ("LA",),
            "publication-types": ("PT",),
            "mesh-names": ("MH",),
            "chemical-names": ("RN",),
            "keywords": ("OT",),
        }
    ),
)
_RIS: Final = Tags(
    first=re.compile(r"TY  - ?"),
    line=re.compile(r"([A-Z][A-Z0-9])  - ?(.*)"),
    begin="TY",
    last="ER",
    title=("TI", "T1", "CT", "BT", "TT"),
    abstract=("AB", "N2"),
    id=("AN", "DO", "ID"),
    meta=MappingProxyType(
        {
            "doi": ("DO",),
            "journal": ("JF", "JO", "T2", "JA"),
            "year": ("PY", "Y1", "DA"),
            "language": ("LA",),
            "publication-types": ("TY",),
            "keywords": ("KW",),
        }
    ),
)
# some programs write one blank where RIS has two
_NARROW: Final = replace(
    _RIS, first=re.compile(r"TY - ?"), line=re.compile(r"([A-Z][A-Z0-9]) - ?(.*)")
)
_WEB_OF_SCIENCE: Final = Tags(
    first=re.compile(r"FN (?:Clarivate|Thomson|ISI)\b"),
    line=re.compile(r"([A-Z][A-Z0-9])(?: (.*))?"),
    begin="PT",
    last="ER",
    frame=("FN", "VR", "EF"),
    title=("TI",),
    abstract=("AB",),
    id=("PM", "UT", "DI"),
    meta=MappingProxyType(
        {
            "doi": ("DI",),
            "journal": ("SO",),
            "year": ("PY",),
            "language": ("LA",),
            "publication-types": ("DT",),
            "keywords": ("DE", "ID"),
        }
    ),
)
_ENDNOTE: Final = Tags(
    first=re.compile("%0 "),
    line=re.compile(r"(%[0-9A-Z@\[\]^$&(*+!?<>~#])(?: (.*))?"),
    begin="%0",
    listed="%K",
    title=("%T", "%B"),
    abstract=("%X",),
    id=("%M", "%R"),
    meta=MappingProxyType(
        {
            "doi": ("%R",),
            "journal": ("%J", "%B"),
            "year": ("%D", "%8"),
            "language": ("%G",),
            "publication-types": ("%0",),
            "keywords": ("%K",),
        }
    ),
)


def tags_at(line: str) -> Tags | None:
    """Returns the tags of the export that begins with a line; ``None`` if it is none of these."""
    tables = (NBIB, _RIS, _NARROW, _WEB_OF_SCIENCE, _ENDNOTE)
    return next((tags for tags in tables if tags.first.match(line)), None)


_AGAIN: Final = "which is not read; export the references as RIS"
# what the first line of an export that is not read matches -> its name
_OTHER: Final = MappingProxyType(
    {
        re.compile(
            r"RT (?:Journal|Generic|Book|Conference|Web)\b"
        ): "the tagged format of RefWorks",
        re.compile(r"%[A-Z] "): "a file of Refer without types (%0)",
        re.compile(r"Scopus\s*$"): "the plain text of Scopus",
        re.compile(r"<1>\s*$"): "the text of Ovid",
        re.compile(r"Record #1 of \d+"): "the text of the Cochrane Library",
        re.compile(r"Reference Type: +\S"): "the text of EndNote with the names of its fields",
    }
)
_PUBMED_RCT: Final = re.compile(r"###\d+\s*$")


def other_export(lines: Sequence[str]) -> str:
    """Returns the name of an export that is not read, with advice; empty for another file.

    Args:
        lines: at the beginning of the file.
    """
    first = next(filter(str.strip, lines), "")
    if _PUBMED_RCT.match(first):
        return (
            "PubMed RCT, which is not read; make a table of it with the columns id and text, "
            "which has one abstract in each row"
        )
    names = (name for pattern, name in _OTHER.items() if pattern.match(first))
    return next((f"{name}, {_AGAIN}" for name in names), "")
