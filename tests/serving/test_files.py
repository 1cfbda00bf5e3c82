"""Files in and out, concepts and reasons."""

from __future__ import annotations

import gzip
import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from standing import Standing

from fascicle.core import codec
from fascicle.core.document import Document, Mention
from fascicle.formats.catalogue import FORMATS
from fascicle.formats.files import read
from fascicle.formats.outputs import write
from fascicle.terms.pack.pack import Pack
from fascicle.verbs.link import explain, link

pytestmark = pytest.mark.loopback
DOCUMENT = Document(
    id="12", text="Aspirin is for pain.", mentions=(Mention(((0, 7),), "Chemical"),)
)
BYTES = {"Content-Type": "application/octet-stream"}
MANY = [name for name, form in FORMATS.items() if form.writes]


def plain(document: Document) -> Any:
    return json.loads(codec.encode(document))


@pytest.mark.parametrize(
    "name",
    [name for name in MANY if FORMATS[name].reads and name not in ("html", "parquet", "xlsx")],
)
def test_what_is_written_is_read(served: Standing, tmp_path: Path, name: str) -> None:
    reply = served.ask("POST", f"/v1/write?format={name}", {"documents": [plain(DOCUMENT)]})
    assert reply.status == 200
    file = reply.headers["content-disposition"].split('"')[1]
    (tmp_path / file).write_bytes(reply.content)
    form = "auto" if name == "brat" else name
    wanted = [plain(one) for one in read(tmp_path / file, format=form)]
    query = "" if name == "brat" else f"&format={name}"
    found = served.ask("POST", f"/v1/read?name={file}{query}", reply.content, BYTES)
    assert found.status == 200
    assert found.json["documents"] == wanted
    path = (
        tmp_path / f"offline{FORMATS[name].suffixes[0]}"
        if name != "brat"
        else tmp_path / "offline.zip"
    )
    report = write(path, [DOCUMENT], format=name)
    told = dict(one.split("=") for one in reply.headers["fascicle-losses"].split(", ") if one)
    assert told == {code: str(count) for code, count in report.losses.items()}


def test_the_formats_are_those_of_the_catalogue(served: Standing) -> None:
    formats = served.ask("GET", "/v1/formats").json["formats"]
    assert {one["name"] for one in formats} == {*FORMATS}
    assert {one["name"] for one in formats if one["writes"]} <= set(MANY)
    for one in formats:
        reply = served.ask(
            "POST", f"/v1/write?format={one['name']}", {"documents": [plain(DOCUMENT)]}
        )
        assert reply.status == (200 if one["writes"] else 422), one["name"]


def test_a_format_of_a_folder_is_one_file(served: Standing, tmp_path: Path) -> None:
    reply = served.ask("POST", "/v1/write?format=parquet", {"documents": [plain(DOCUMENT)]})
    (tmp_path / "documents.parquet").write_bytes(reply.content)
    (back,) = read(tmp_path / "documents.parquet")
    assert (back.id, back.text) == (DOCUMENT.id, DOCUMENT.text)


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd.txt",
        "/etc/passwd.txt",
        "-",
        "--help.txt",
        ".hidden.txt",
        "a" * 3_000 + ".txt",
        "..",
        "é.txt",
        "a%00b.txt",
        "%E6%BC%A2" * 100 + ".txt",
        "%F0%92%80%80" * 200 + ".txt",
    ],
)
def test_the_name_of_a_file_is_no_path(served: Standing, name: str) -> None:
    reply = served.ask(
        "POST", f"/v1/read?format=plain&name={name.replace('é', '%C3%A9')}", b"no pain", BYTES
    )
    if reply.status == 422:
        assert "name" in reply.json["detail"]
        return
    assert reply.status == 200
    (document,) = reply.json["documents"]
    assert document["text"] == "no pain"
    assert "root:" not in reply.content.decode()


def zipped(files: dict[str, bytes]) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


BOMBS = {
    "bomb.txt.gz": gzip.compress(b"a" * 60_000_000, 9),
    "bomb.zip": zipped({"a.txt": b"a" * 150_000_000, "a.ann": b""}),
    "laughs.xml": b'<!DOCTYPE collection [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]><collection>&b;</collection>',
    "outside.xml": b'<!DOCTYPE collection [<!ENTITY a SYSTEM "file:///etc/passwd">]><collection>&a;</collection>',
    "deep.json": b"[" * 100_000,
    "cut.pubtator.gz": gzip.compress(b"1|t|a\n")[:-6],
    "empty.xml": b"",
    "binary.txt": bytes(range(256)) * 4,
}


@pytest.mark.parametrize("name", BOMBS)
def test_files_that_bite_are_refused(served: Standing, name: str) -> None:
    reply = served.ask("POST", f"/v1/read?name={name}", BOMBS[name], BYTES)
    assert reply.status in (413, 422)
    assert reply.headers["content-type"] == "application/problem+json"
    assert "/tmp" not in reply.json["detail"]
    assert "Traceback" not in reply.json["detail"]
    assert served.ask("POST", "/v1/read?name=a.txt", b"pain", BYTES).status == 200


def test_urls_are_not_followed(served: Standing) -> None:
    for name in ("http://127.0.0.1:9/x.txt", "file:///etc/passwd", "s3://bucket/x.txt"):
        reply = served.ask("POST", f"/v1/read?format=plain&name={name}", b"pain", BYTES)
        assert [one["text"] for one in reply.json["documents"]] == ["pain"]


def test_a_concept_is_that_of_the_pack(served: Standing) -> None:
    pack = Pack.open("basic")
    curie = "MESH:D008094"
    found = served.ask("GET", f"/v1/concepts/{curie}").json
    concept = pack.concept(curie)
    assert (found["label"], found["type"], found["definition"]) == (
        concept.label,
        concept.type,
        concept.definition,
    )
    assert {one["curie"] for one in found["parents"]} == set(pack.parents(curie))
    assert set(found["names"]) <= {term.surface for term in pack.names(curie)}
    assert served.ask("GET", "/v1/concepts/MESH:D99").status == 404
    assert served.ask("GET", "/v1/concepts/none").status == 422
    assert served.ask("GET", f"/v1/concepts/{curie}?pipeline=poison").status == 404


def test_concepts_are_found_as_one_types(served: Standing) -> None:
    pack = Pack.open("basic")
    for query in ("lithium", "LITHIUM", "litihum", "MESH:D008094"):
        first = served.ask("GET", f"/v1/concepts?q={query}&type=Chemical").json["concepts"][0]
        assert first["curie"] == "MESH:D008094", query
    concept = pack.concept("MESH:D008094")
    assert (first["label"], first["definition"]) == (concept.label, concept.definition)
    assert [one["curie"] for one in first["parents"]] == list(pack.parents("MESH:D008094"))
    found = served.ask("GET", "/v1/concepts?q=heart+fail&most=3").json["concepts"]
    assert len(found) == 3
    assert all(one["name"].lower().startswith("heart fail") for one in found)
    assert served.ask("GET", "/v1/concepts?q=heart&type=Nothing").json == {"concepts": []}
    assert served.ask("GET", "/v1/concepts?q=heart&pipeline=poison").json == {"concepts": []}
    for query in (
        "",
        "?q=",
        "?q=+",
        "?q=a&most=0",
        "?q=a&most=99",
        "?q=a&more=1",
        f"?q={'a' * 300}",
    ):
        assert served.ask("GET", f"/v1/concepts{query}").status == 422


def test_reasons_are_those_of_the_linker(served: Standing) -> None:
    found = served.ask("POST", "/v1/why?candidates=3", plain(DOCUMENT)).json["decisions"]
    ((_, wanted),) = explain([DOCUMENT], most=3)
    assert [one["surface"] for one in found] == [one.surface for one in wanted]
    got, want = found[0]["candidates"][0], wanted[0].candidates[0]
    assert (got["curie"], got["probability"]) == (want.curie, pytest.approx(want.probability))
    assert got["parts"] == pytest.approx(want.parts)


def test_reasons_are_those_of_the_links_that_are_there(served: Standing) -> None:
    """A second look at a document that has links explains them, and does not take them for
    evidence.
    """
    mentions = (Mention(((6, 9),), "Gene"), Mention(((13, 29),), "Species"))
    bare = Document(id="13", text="Human MYC in Escherichia coli.", mentions=mentions)
    (linked,) = link([bare])
    assert all(each.links for each in linked.mentions)
    asked = "/v1/why?candidates=3"
    first, again = (
        served.ask("POST", asked, plain(one)).json["decisions"] for one in (bare, linked)
    )
    assert again == first
    for one in again:
        (given,) = linked.mentions[one["mention"]].links
        assert given.nil or given.curie == one["candidates"][0]["curie"]
