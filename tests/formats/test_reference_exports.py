"""Exports of reference managers: how they are recognised, and what is said where one is not read."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path

import pytest

from fascicle.core.files import archive
from fascicle.core.files.source import Source
from fascicle.errors import FormatError
from fascicle.formats import ReadReport, bibtex, read
from fascicle.formats.detection import detect
from fascicle.formats.report import FailedDocuments
from fascicle.formats.tex import read_tex

ARTICLE = (
    "<article><front><article-meta><article-id pub-id-type='pmc'>{0}</article-id><title-group>"
    "<article-title>Lithium {0}</article-title></title-group></article-meta></front></article>"
)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "savedrecs.txt",
            "FN Thomson Reuters Web of Science\nVR 1.0\nPT J\nTI On\nER\n",
            "citations",
        ),
        ("savedrecs.ciw", "FN ISI Export Format\nVR 1.0\nPT J\nTI On\nER\n", "citations"),
        ("export.txt", "%0 Journal Article\n%T On\n", "citations"),
        ("library.bib", "% by hand\n@article{a, title={On}}", "bibtex"),
        ("library.xml", "<xml><records><record/></records></xml>", "endnote"),
    ],
)
def test_an_export_is_recognised(name: str, content: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert detect(str(tmp_path / name)) == expected


@pytest.mark.parametrize(
    ("first", "sentence"),
    [
        ("Reference Type:  Journal Article\n", "is the text of EndNote with the names of its"),
        ("###24491034\nOBJECTIVE\tOn gout .\n", "is PubMed RCT, which is not read; make a table"),
        ("RT Journal Article\nT1 On\n", "is the tagged format of RefWorks, which is not read"),
        ("%A Smith, J\n%T On\n", r"is a file of Refer without types \(%0\)"),
        ("Scopus\nEXPORT DATE: 1 May 2020\n", "is the plain text of Scopus"),
        ("<1>\nUnique Identifier\n  7\nTitle\n  On\n", "is the text of Ovid"),
        ("Record #1 of 2\nID: CN-1\nTI: On\n", "is the text of the Cochrane Library"),
    ],
)
def test_an_export_that_is_not_read_is_named(first: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "export.txt").write_text(first, encoding="utf-8")
    with pytest.raises(FormatError, match=f"{sentence}.*export the references as RIS|{sentence}"):
        list(read(tmp_path / "export.txt"))
    (document,) = read(tmp_path / "export.txt", format="plain")
    assert document.text == first


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"{\'E}tude {\`a} \^{i}le \"u na{\"\i}ve \~n", "Étude à île ü naïve ñ"),
        (r"\v{S}koda \c{c}a \H{o} \r{a} \k e", "Škoda ça ő å ę"),
        (r"\O{}stergaard {\ss} \L{}\'od\'z \aa", "Østergaard ß Łódź å"),
        (r"{TNF}-$\alpha$ and $\beta$-catenin", "TNF-α and β-catenin"),
        (r"\textit{E. coli} {\em in vitro}", "E. coli in vitro"),
        (r"Ca$^{2+}$, H$_2$O, 10\textsuperscript{6}", "Ca2+, H2O, 106"),
        (r"50\% \& \$5 \#1 a\_b \{x\}", "50% & $5 #1 a_b {x}"),
        ("costs $5 and $10", "costs $5 and $10"),
        ("costs $5--$10, $1,000/$2,000", "costs $5–$10, $1,000/$2,000"),
        (r"TGF-$\beta$1, integrin $\alpha$4$\beta$7", "TGF-β1, integrin α4β7"),
        (r"$\sim$5 mg, p$<$0.05, $10^{-3}$5", "∼5 mg, p<0.05, 10-35"),
        ("1990--2000 --- Smith~J", "1990–2000 — Smith J"),
        (r"an \unknown{word}", r"an \unknownword"),
        ("IL-2 in 5-HT", "IL-2 in 5-HT"),
        (r"5.1{\textpm}0.3, 2{\texttimes}10, TNF-{\textalpha}", "5.1±0.3, 2×10, TNF-α"),
        (r"a{\textperiodcentered}b, 5{\textmu}m {\textDelta}F \varepsilon4", "a·b, 5µm ΔF ε4"),
        (r"\href{http://x.org/a{\_}b}{the trial} of \href {x} {gout}", "the trial of gout"),
    ],
)
def test_tex_is_read_as_it_is_printed(tex: str, expected: str) -> None:
    assert read_tex(tex) == expected


def test_a_damaged_entry_is_set_aside_and_the_next_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.bib"
    path.write_text(
        "@article{a, title = {On}}\n@article{b, title = {no end,\n year = 2020\n\n"
        "@article{c, title {x}}\n@article{d, title = {Two}}\n",
        encoding="utf-8",
    )
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert [document.id for document in read(path, report=report)] == ["a", "d"]
    assert [sentence.partition(": ")[2] for sentence in report.aside.sentences] == [
        "a value of the entry does not end; close its braces",
        "the entry lacks a name with = behind it, or its end; see its commas and braces",
    ]


def test_unknown_commands_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.bib"
    content = r"@article{a, title={\foo{On} \textit{E. coli}}, abstract={\bar \'a {\textpm}}}"
    path.write_text(content, encoding="utf-8")
    (document,) = read(path)
    (event,) = document.events
    assert (event.kind, event.code) == ("repair", "markup-kept")
    assert event.message.startswith("2 unknown commands of TeX stayed in the text")
    assert r"the first is \foo" in event.message


def test_the_facts_of_an_entry_are_those_of_a_citation(tmp_path: Path) -> None:
    path = tmp_path / "a.bib"
    path.write_text(
        "@article{a, title={On}, date = {2020-05-01}, doi = {https://doi.org/10.1/a_b}}\n"
        "@article{b, title={On}, year = {in press}, date = 2021, doi = {10.1234/x}}\n"
        "@article{c, title={On}, year = {soon}, doi = {https://doi.org/10.1234/a\\_b}}\n",
        encoding="utf-8",
    )
    kind = {"publication-types": "article"}
    documents = list(read(path))
    assert [document.meta for document in documents] == [
        {"year": "2020", **kind},
        {"doi": "10.1234/x", "year": "2021", **kind},
        {"doi": "10.1234/a_b", **kind},
    ]
    assert [event.message for event in documents[2].events if "year" in event.message]


class _Counted(str):
    """A text that counts the characters that are looked at to count lines."""

    __slots__ = ("seen",)

    def count(self, text: str, start: int = 0, end: int = 0) -> int:  # type: ignore[override]
        self.seen = getattr(self, "seen", 0) + end - start
        return super().count(text, start, end)


TEXT = _Counted("\n\n@article{a, title={On}}\n" * 200 + "@article{b, title}")


class _CountedSource(Source):
    def text(self) -> str:
        return TEXT


def test_the_line_of_an_entry_is_counted_from_the_entry_before() -> None:
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert len(list(bibtex.read(_CountedSource(path="a.bib"), None, report))) == 200
    assert "a.bib:601: " in report.aside.sentences[0]
    assert 0 < TEXT.seen <= len(TEXT)


def test_dumps_of_semantic_scholar_keep_their_ids(tmp_path: Path) -> None:
    path = tmp_path / "dump.jsonl"
    records = [
        {"corpusid": 123, "externalids": {"PubMed": "7"}, "title": "Lithium", "year": 2020},
        {"corpusid": 124, "openaccessinfo": {"license": None}, "abstract": "It helps."},
        {"paperId": "ab", "title": "Two", "abstract": None},
    ]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    assert [(document.id, document.text) for document in read(path)] == [
        ("123", "Lithium"),
        ("124", "It helps."),
        ("ab", "Two"),
    ]


def _archive(path: Path, members: dict[str, str]) -> Path:
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as file:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content.encode())
            file.addfile(member, io.BytesIO(content.encode()))
    return path


@pytest.mark.parametrize("name", ["oa.tar.gz", "oa.tar"])
def test_articles_in_an_archive(name: str, tmp_path: Path) -> None:
    members = {
        "PMC1/a.nxml": ARTICLE.format(1),
        "PMC1/picture.jpg": "no xml",
        "PMC1/._a.nxml": "no xml",
        "PMC2/b.xml": ARTICLE.format(2),
        "own/c.xml": "<article><body><p>Without an id.</p></body></article>",
    }
    documents = list(read(_archive(tmp_path / name, members)))
    assert [(document.id, document.text) for document in documents] == [
        ("PMC1", "Lithium 1"),
        ("PMC2", "Lithium 2"),
        ("c", "Without an id."),
    ]


def test_a_damaged_member_is_set_aside(tmp_path: Path) -> None:
    path = _archive(
        tmp_path / "a.tar.gz", {"a.xml": "<article><front>", "b.xml": ARTICLE.format(2)}
    )
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert [document.id for document in read(path, report=report)] == ["PMC2"]
    assert "a.tar.gz/a.xml" in report.aside.sentences[0]


def test_an_archive_without_articles_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="is a tar archive; unpack it"):
        list(read(_archive(tmp_path / "a.tar.gz", {"a.txt": "text"})))


def test_an_archive_that_is_cut_off_is_damaged(tmp_path: Path) -> None:
    whole = gzip.decompress(
        _archive(tmp_path / "a.tar.gz", {"a.xml": ARTICLE.format(1)}).read_bytes()
    )
    (tmp_path / "cut.tar").write_bytes(whole[:600])
    with pytest.raises(FormatError, match=r"damaged|is a tar archive; unpack"):
        list(read(tmp_path / "cut.tar"))


def _is_damaged(path: Path) -> bool:
    documents = read(path)
    assert next(documents).id == "PMC1"
    with pytest.raises(FormatError, match="the tar archive is damaged") as caught:
        list(documents)
    return caught.value.code == "damaged"


def test_an_archive_is_damaged_behind_its_first_member(tmp_path: Path) -> None:
    """POSIX: two blocks of zeros end an archive; a member is a header and its blocks of 512."""
    members = {f"{number}.xml": ARTICLE.format(number) for number in (1, 2, 3)}
    whole, path = _archive(tmp_path / "a.tar", members).read_bytes(), tmp_path / "b.tar"
    for size in (1024, 1100, 1536, 3072):  # in front of a header, inside it, behind it, at the end
        path.write_bytes(whole[:size])
        assert _is_damaged(path)
    path.write_bytes(whole[:1100] + b"?" + whole[1101:])
    assert _is_damaged(path)
    path.write_bytes(whole[: 3 * 1024 + 512])
    assert [document.id for document in read(path)] == ["PMC1", "PMC2", "PMC3"]


def test_a_member_that_is_too_large_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MAX_MEMBER", 400)
    members = {"a.xml": ARTICLE.format("1" * 400), "b.xml": ARTICLE.format(2)}
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    path = _archive(tmp_path / "a.tar", members)
    assert [document.id for document in read(path, report=report)] == ["PMC2"]
    assert report.aside.sentences[0].endswith(
        "a.tar/a.xml: the file has more than 400 bytes; unpack the archive"
    )
