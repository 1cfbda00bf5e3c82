"""Files that are made to do harm: each is refused in one sentence, and nothing outside of it is
read.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from fascicle.errors import FormatError, InputError
from fascicle.formats import ReadReport, read
from fascicle.formats.report import FailedDocuments

LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
DECLARED = {
    "billion laughs": f'<!DOCTYPE x [<!ENTITY a0 "ha">{LAUGHS}]>',
    "a file": '<!DOCTYPE x [<!ENTITY a9 SYSTEM "{secret}">]>',
    "a parameter": '<!DOCTYPE x [<!ENTITY % p SYSTEM "{secret}"> <!ENTITY a9 "x">%p;]>',
    "quadratic": f'<!DOCTYPE x [<!ENTITY a9 "{"x" * 50_000}">]>',
}
RECORDS = {
    "medline": "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID><Article>"
    "<ArticleTitle>{}</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>",
    "jats": "<article><front><article-meta><title-group><article-title>{}</article-title></title-group></article-meta>"
    "</front></article>",
    "endnote": "<xml><records><record><titles><title>{}</title></titles></record></records></xml>",
    "tei": "<TEI><teiHeader><fileDesc><titleStmt><title>{}</title></titleStmt></fileDesc></teiHeader></TEI>",
    "bioc": "<collection><document><id>7</id><passage><offset>0</offset><text>{}</text></passage></document>"
    "</collection>",
}


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("kind", DECLARED)
def test_entities_are_refused(tmp_path: Path, name: str, kind: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("password")
    path = tmp_path / "a.xml"
    path.write_text(
        DECLARED[kind].replace("{secret}", secret.as_uri()) + RECORDS[name].format("&a9;" * 3)
    )
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert list(read(path, format=name, report=report)) == []
    assert report.aside.count == 1
    assert "entity" in report.aside.sentences[0]
    assert "password" not in report.aside.sentences[0]


@pytest.mark.parametrize("name", RECORDS)
def test_deep_xml_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(RECORDS[name].format("<i>" * 500 + "Lung" + "</i>" * 500))
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    assert list(read(path, format=name, report=report)) == []
    assert "deep" in report.aside.sentences[0]


@pytest.mark.parametrize("name", RECORDS)
def test_a_document_type_elsewhere_is_not_fetched(tmp_path: Path, name: str) -> None:
    kind = tmp_path / "x.dtd"
    kind.write_text('<!ENTITY a9 "password">')
    path = tmp_path / "a.xml"
    path.write_text(
        f'<!DOCTYPE x SYSTEM "{kind.as_uri()}">' + RECORDS[name].format("Lung &alpha; &a9;")
    )
    (found,) = read(path, format=name)
    assert found.text == "Lung α &a9;"


BOMBS = {
    "kazu": json.dumps({"idx": "1", "sections": [{"text": "x" * 30_000, "name": "na"}]}),
    "bioc-json": json.dumps(
        {"documents": [{"id": "1", "passages": [{"offset": 0, "text": "x" * 30_000}]}]}
    ),
    "label-studio": json.dumps([{"data": {"text": "x" * 30_000}, "annotations": []}], indent=1),
    "table": "id,text\n1," + "x" * 30_000,
    "html": f"<html><p>{'x' * 30_000}",
    "jsonl": json.dumps({"id": "1", "text": "x" * 30_000, "fascicle": 1}),
    "plain": "x" * 30_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_gzip_unpacks_has_a_limit(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "html":
        pytest.importorskip("selectolax")
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(BOMBS[name].encode()))
    assert len(list(read(path, format=name))) == 1
    for limit in ("MAX_LINE", "MAX_FILE"):
        monkeypatch.setattr(f"fascicle.core.files.source.{limit}", 10_000)
    with pytest.raises(InputError, match="10,000"):
        list(read(path, format=name))


@pytest.mark.parametrize("name", ["kazu", "bioc-json", "label-studio", "jsonl", "records"])
@pytest.mark.parametrize("opened", ['{"a":', "["])
def test_deep_json_is_refused(tmp_path: Path, name: str, opened: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(opened * 100_000)
    with pytest.raises(FormatError):
        list(read(path, format=name))


@pytest.mark.parametrize(
    "identifier", ["../../escaped", "/tmp/escaped", "a/../../escaped", "..", "C:\\escaped"]
)
def test_no_id_leads_out_of_the_folder(tmp_path: Path, identifier: str) -> None:
    from fascicle.core.document import Document
    from fascicle.formats import write

    inside = tmp_path / "deep" / "out"
    inside.parent.mkdir()
    write(inside, [Document(id=identifier, text="x")], format="brat")
    assert {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*")} == {"deep"}
    assert {path.name for path in inside.parent.iterdir()} == {"out"}
    (found,) = read(inside)
    assert found.id == identifier
