"""Detection of the encoding and the kind of a file: by its byte order mark, or by bytes that are
not UTF-8.

An encoding is guessed only where the guess is reliable, and the reader of the file reports it.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable
from types import MappingProxyType
from typing import Final

AUTO: Final = "auto"
WESTERN: Final = "windows-1252"
BY_MARK: Final = "its byte order mark says so"
GUESSED: Final = (
    "this was guessed from its bytes, which are not UTF-8; name another one with encoding=NAME"
)
# UTF-32 first, since its mark begins with that of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Few texts need these patterns, so they are compiled only when they are used.
_UTF8: Final = rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
_CONTROL: Final = rb"[\x00-\x08\x0e-\x1f\x7f]"
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")
# Letters with marks that one language uses. Languages whose letters other code pages have in these
# places are left out (Icelandic: the same bytes are Turkish).
_ALPHABETS: Final = (
    "äöüßéèàáïëçñ",  # German, Dutch, and names in them
    "àâæçéèêëîïôœùûüñ",  # French
    "áéíóúüñçàèòï·ªº",  # Spanish, Catalan, Galician
    "áâãàçéêíóôõúüªº",  # Portuguese
    "àèéìíòóùúîªº",  # Italian
    "æøåäöéüèôóò",  # Danish, Norwegian, Swedish, Finnish
)
_SMALL: Final = "a-zà-öø-ÿšœž"
_CAPITAL: Final = "A-ZÀ-ÖØ-ÞŠŒŽŸ"
# Signs that no word of any language has inside, and capitals in the middle of small letters: what
# bytes of other code pages look like here. The middle dot, the soft hyphen and the degree sign may
# be in words; for others see `_is_odd`.
_ODD: Final = (
    rf"(?<=[{_SMALL}{_CAPITAL}])[€‚ƒ„…†‡ˆ‰‹‘“”•˜›¡¢£¤¥¦§¨©«¬¯±²³¶¸¹»¼½¾¿×÷](?=[{_SMALL}{_CAPITAL}])"
    rf"|(?<=[{_SMALL}])[À-ÖØ-ÞŠŒŽŸ]|[ªº](?=[{_SMALL}])"
    # rare in texts of these languages; 0xff and 0xfe are what damaged files have
    "|[þÞÿŸðÐýÝšŠžŽƒ¤¦¨¯¸]"
    # Letters where MS-DOS or a Mac has a quotation mark or a sign of units, and signs where they
    # have letters.
    rf"|(?<![{_SMALL}{_CAPITAL}])(?:[ÒÓÔÕñø]|æ[mglsLMVA]?|øC)(?![{_SMALL}{_CAPITAL}])|[ÒÔ](?=[A-Z][a-z])"
    rf"|(?<=[{_SMALL}])[§¢£](?!\w)|¥(?!\s?\d)|(?<=\d)«|(?<![\w)\]])[¹²³](?=\s?\d)|(?<=\s)”(?=[{_SMALL}])"
)
# An apostrophe, a dash or a no-break space between two words; in other code pages these bytes are
# letters.
_LETTER: Final = f"[{_SMALL}{_CAPITAL}]"
# Starts at the first letter of a word, without backtracking: a line may be one word of millions of
# letters.
_JOINT: Final = rf"(?<!{_LETTER})({_LETTER}++)([’–—\xa0])(?=({_LETTER}++))"
_AFTER_APOSTROPHE: Final = frozenset(
    {"s", "t", "d", "m", "re", "ve", "ll", "em", "er", "n", "clock"}
)
_BEFORE_APOSTROPHE: Final = frozenset(
    {
        *(
            "l",
            "d",
            "j",
            "m",
            "n",
            "s",
            "t",
            "c",
            "qu",
            "jusqu",
            "lorsqu",
            "puisqu",
            "quelqu",
            "presqu",
            "aujourd",
        ),
        *("o"),
        *(
            "dell",
            "all",
            "nell",
            "sull",
            "dall",
            "un",
            "quest",
            "quell",
            "com",
            "dov",
            "cos",
            "anch",
            "sant",
            "entr",
        ),
    }
)
_VOWELS: Final = "aeiouyhàâäáèéêëìíîïòóôöùúûüœæ"
_SHORT_WORDS: Final = frozenset(
    {
        *(
            "a",
            "i",
            "an",
            "as",
            "at",
            "be",
            "by",
            "do",
            "go",
            "he",
            "if",
            "in",
            "is",
            "it",
            "me",
            "my",
            "no",
            "of",
        ),
        *("on"),
        *("or", "so", "to", "up", "us", "we", "co", "re", "de", "un", "bi", "di", "ex"),
    }
)
_LETTER_WORDS: Final = "aàeéioóuy"
_SIGNS: Final = "µªºƒˆ"  # letters to Unicode, but not of a word
_FOREIGN_SHARE: Final = 100  # at most one letter in 100 may be outside of the best alphabet
_ODD_SHARE: Final = 50  # at most one in 50 characters that are not ASCII may be in an odd position


def bom_encoding(head: bytes) -> str:
    """Returns the encoding that a byte order mark names; empty for none, and for that of UTF-8."""
    return next((name for mark, name in _MARKS if head.startswith(mark)), "")


def decode_head(head: bytes, *, codec: str = "utf-8") -> str:
    """Decodes the beginning of a file, without its byte order mark; invalid bytes are replaced.

    Args:
        head: the first bytes of a file.
        codec: encoding of the file, unless a byte order mark names another.
    """
    return head.decode(bom_encoding(head) or codec, errors="replace").removeprefix("\ufeff")


def is_western(parts: Iterable[bytes]) -> bool:
    """True if the bytes of a file are probably Windows-1252.

    False if a sequence of bytes is UTF-8 (then the file is UTF-8 with bad bytes), if a byte has no
    meaning in Windows-1252 or is a control character, and if too many letters do not belong to one
    language of Western Europe, or are in positions where no language has them: text in other code
    pages of one byte looks like that.

    Args:
        parts: bytes of the file in parts, cut between lines.
    """
    pairs: Counter[str] = Counter()
    odd = letters = 0
    for part in parts:
        if re.search(_UTF8, part) or re.search(_CONTROL, part):
            return False
        try:
            text = part.decode("cp1252")
        except UnicodeDecodeError:
            return False
        pairs.update(_NOT_ASCII.findall(text))
        odd += len(re.findall(_ODD, text))
        odd += sum(_is_odd(*joint.groups()) for joint in re.finditer(_JOINT, text))
        letters += sum(map(str.isalpha, text))
    accented = {
        sign: count for sign, count in pairs.items() if sign.isalpha() and sign not in _SIGNS
    }
    outside = min(
        sum(count for sign, count in accented.items() if sign.lower() not in alphabet)
        for alphabet in _ALPHABETS
    )
    return outside * _FOREIGN_SHARE <= letters and odd * _ODD_SHARE <= pairs.total()


def _is_odd(before: str, sign: str, after: str) -> bool:
    """True if an apostrophe, a dash or a no-break space between these letters is improbable."""
    if sign == "’":
        begins, ends = before.lower() in _BEFORE_APOSTROPHE, after.lower() in _AFTER_APOSTROPHE
        name = len(before) == 1 and before.isupper() and after[0].isupper()
        return not (ends or name or (begins and after[0].lower() in _VOWELS))
    if not (before[-1].islower() and after[0].islower()):
        return False
    if sign == "\xa0":
        return any(len(part) == 1 and part.lower() not in _LETTER_WORDS for part in (before, after))
    return any(len(part) < 3 and part.lower() not in _SHORT_WORDS for part in (before, after))


_UNPACK: Final = "unpack it first"
_OFFICE: Final = "save a sheet as CSV, and a text as plain text"
_PICTURE: Final = "an image; recognise its text first, for example with tesseract"
_PARQUET: Final = b"PAR1"
_OFFICE_ZIP: Final = b"PK\x03"
_SIGNATURES: Final = (
    (b"%PDF-", "a PDF; read it with format=pdf"),
    (b"%!PS", "a PostScript file; extract its text first, for example with ps2ascii"),
    (b"{\\rtf", "an RTF file; save it as plain text first, for example with pandoc -t plain"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", f"a file of Microsoft Office before 2007; {_OFFICE}"),
    *(
        (mark, _PICTURE)
        for mark in (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"II*\x00", b"MM\x00*")
    ),
    (b"7z\xbc\xaf\x27\x1c", f"a 7z archive; {_UNPACK}"),
    (b"Rar!\x1a\x07", f"a RAR archive; {_UNPACK}"),
    (b"\xfd7zXZ\x00", f"packed with xz; {_UNPACK}, or pack it with gzip"),
    (b"BZh", f"packed with bzip2; {_UNPACK}, or pack it with gzip"),
    (b"\x28\xb5\x2f\xfd", f"packed with zstd; {_UNPACK}, or pack it with gzip"),
    (_OFFICE_ZIP, f"a file of Excel, Word or the like; {_OFFICE}"),
    (b"PK\x03\x04", f"a zip archive; {_UNPACK}"),
    (b"SQLite format 3\x00", "an SQLite database; export its texts first"),
    (
        _PARQUET,
        "a single Parquet file; name the folder with its two tables, or convert it to JSON Lines "
        "first",
    ),
    (b"ARROW1", "an Arrow file; convert it to JSON Lines first"),
    (b"x\x9c", "packed with zlib, but no DocBin of spaCy; unpack it first"),
    (b"\x93NUMPY", "an array of NumPy, which holds no text"),
)
# A line of text may begin with these signatures, so more of the file is checked.
_NEED_MORE: Final = MappingProxyType(
    {
        b"BZh": rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)",
        b"GIF8": rb"GIF8[79]a",
        _OFFICE_ZIP: rb"(?s)PK\x03\x04.{26}(?:\[Content_Types\]|(?:_rels|docProps|xl|word)/)",
        _PARQUET: rb"PAR1[\x00-\x1f]",
        b"ARROW1": rb"ARROW1\x00\x00",
        b"%!PS": rb"%!PS-Adobe",
    }
)
_MARKUP: Final = (
    r"(?is)\s*(?:<!--.*?-->\s*)*<(?:(?P<html>!doctype\s+html|html[\s>])|(?P<xml>\?xml\s))"
)
_ROOT: Final = (
    r"""(?is)\s*(?:<\?[^<>]*\?>\s*|<!--.*?-->\s*)*(?:<!doctype\s[^<>\[]*>\s*)?(?:<\?[^<>]*\?>\s*|<!--.*?-->\s*)*"""
    r"<([A-Za-z][\w:.-]*)(?=[\s>/])"
)
_KNOWTATOR: Final = r"<(?:knowtator-project|annotations textSource=)"
_TAG: Final = r"<[A-Za-z!?/][^<>]*>"
_NAMED: Final = MappingProxyType(
    {".html": "html", ".htm": "html", ".xhtml": "html", ".xml": "xml", ".nxml": "xml"}
)
HEAD: Final = 512  # number of bytes that `binary_kind` needs
# Name of a member -> description of a zip with it.
_PACKAGES: Final = (
    ("ppt/", f"a PowerPoint presentation (PPTX); {_OFFICE}"),
    (
        "META-INF/container.xml",
        "an EPUB book; extract its text first, for example with pandoc -t plain",
    ),
    ("content.xml", f"an OpenDocument file (ODT, ODS); {_OFFICE}"),
)


_SEPARATOR: Final = re.compile("sep=([\t;,])", re.I)
_TAR_MARK: Final = slice(257, 262)
_TAR: Final = "a tar archive; unpack it, and name the files that are in it"


def binary_kind(head: bytes) -> str:
    """Describes a file that is no plain text, by its first bytes, with advice; empty if it may
    be text.
    """
    for signature, kind in _SIGNATURES:
        if head.startswith(signature) and (
            signature not in _NEED_MORE or re.match(_NEED_MORE[signature], head)
        ):
            return kind
    return _TAR if is_tar(head) else ""


def is_tar(head: bytes) -> bool:
    """True if a file is a tar archive, judged by its first bytes."""
    return head[_TAR_MARK].startswith(b"ustar")


def is_parquet(head: bytes) -> bool:
    """True if a file is a table in Parquet, judged by its first bytes."""
    return re.match(_NEED_MORE[_PARQUET], head) is not None


def is_docbin(head: bytes) -> bool:
    """True if a file is a DocBin of spaCy, judged by its first bytes: MessagePack with its keys,
    packed with zlib.
    """
    try:
        return b"\xa5attrs" in zlib.decompressobj().decompress(head, HEAD)
    except zlib.error:
        return False


def is_html(head: str, suffix: str) -> bool:
    """True if a text is an HTML page, judged by its beginning, or by its tags and the suffix of
    its file.
    """
    return _kind_of_markup(head, suffix) == "html"


def markup_kind(head: str, suffix: str) -> str:
    """Describes a text with mark-up, with advice; empty if it has none.

    Args:
        head: beginning of the text.
        suffix: suffix of the file, in lower case.
    """
    kind = _kind_of_markup(head, suffix)
    if not kind:
        return ""
    plain = "name the format plain to read it as it is, tags included"
    if kind == "html":
        return f"an HTML page; extract its text first, for example with pandoc -t plain, or {plain}"
    if re.search(_KNOWTATOR, head):
        return (
            "annotation of Knowtator; give the folder that has its texts too, and name the format "
            "knowtator"
        )
    root = root_element(head)
    what = (
        f"with the root {root}, which is of no format that is read"
        if root
        else "of a kind that is not read"
    )
    return f"an XML file {what}; take the articles or texts out of it and give these, or {plain}"


def _kind_of_markup(head: str, suffix: str) -> str:
    match = re.match(_MARKUP, head)
    if match:
        return "html" if match["html"] or re.search(r"<html[\s>]", head, re.IGNORECASE) else "xml"
    return _NAMED.get(suffix, "") if re.search(_TAG, head) else ""


def stated_separator(line: str) -> str:
    """Returns what a first line ``sep=;`` states for Excel; empty for any other line."""
    match = _SEPARATOR.fullmatch(line.rstrip("\r\n"))
    return match[1] if match else ""


def root_element(head: str) -> str:
    """Returns the name of the outermost element of a text with mark-up; empty if its beginning
    does not show it.
    """
    match = re.match(_ROOT, head)
    return match[1].rpartition(":")[2] if match else ""


def package_kind(members: Collection[str]) -> str:
    """Describes a zip by the names of its members, with advice; empty if its kind is unknown."""
    return next(
        (kind for name, kind in _PACKAGES if any(member.startswith(name) for member in members)),
        "",
    )
