"""Rows of curation that are tried on a folder of texts, as a job."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from standing import Reply, Standing, standing
from test_jobs import BYTES, ended, lines

from fascicle.serving.server import PipelineOpener
from fascicle.serving.tokens import add_token, read_tokens
from fascicle.settings.serving import ServeSettings

pytestmark = [pytest.mark.loopback, pytest.mark.slow]  # each job starts a process
RIS = "TY  - JOUR\nTI  - No tremor\nER  - \n"
ROWS = [{"action": "ner_off", "surface": "tremor"}, {"action": "ner_off", "surface": "Tremor"}]


def zipped(**files: str | bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), data)
    return content.getvalue()


def send(service: Standing, content: bytes, name: str = "notes.zip", **headers: str) -> Reply:
    return service.ask("POST", f"/v1/jobs?name={name}&texts=true", content, {**BYTES, **headers})


def read(service: Standing, content: bytes, name: str = "notes.zip") -> dict[str, Any]:
    reply = send(service, content, name)
    assert reply.status == 202, reply.content
    return ended(service, reply.json["id"])


def test_rows_are_tried_on_the_files_of_a_zip(served: Standing) -> None:
    files = {
        "first_txt": "Lithium can cause tremor.",
        "below__second_txt": "A tremor again.",
        "letter_pdf": b"no pdf",
        "empty_txt": "",
        "brief_csv": "Titel;Zusammenfassung\nEins;Aspirin\n",
        "cites_ris": RIS,
    }
    texts = read(served, zipped(**files))
    assert (texts["status"], texts["documents"], texts["quarantined"]) == ("done", 6, 2)
    sentences = "\n".join(texts["reasons"])
    for name in ("letter.pdf", "brief.csv"):
        assert name in sentences
    assert "fields=" not in sentences
    assert "; else name it with input_format=NAME" in sentences
    assert "/tmp" not in sentences

    content = {"name": "Tremor", "rows": ROWS}
    reply = served.ask("POST", f"/v1/jobs/{texts['id']}/names", content)
    assert (reply.status, reply.headers["location"]) == (202, f"/v1/jobs/{reply.json['id']}")
    tried = ended(served, reply.json["id"])
    assert (tried["status"], tried["documents"], tried["of"]) == ("done", 4, 4)
    answer = json.loads(served.ask("GET", f"/v1/jobs/{tried['id']}/result").content)
    documents = [
        json.loads(line)
        for line in served.ask("GET", f"/v1/jobs/{texts['id']}/result").content.splitlines()
    ]
    assert answer == served.ask("POST", "/v1/names", {**content, "documents": documents}).json
    assert answer["counts"] == {"added": 0, "removed": 3, "changed": 0}
    assert {one["document"] for one in answer["changes"]} >= {"first", "below/second"}


def test_files_that_are_no_texts_are_named(served: Standing) -> None:
    found = read(served, zipped(a_pdf=b"x"))
    assert found["status"] == "failed"
    assert "a.pdf" in found["problem"]
    assert read(served, zipped())["problem"] == "there is no file with texts"
    beyond = read(served, zipped(**{"..__a_txt": "x"}))
    assert "a path that leads out of it" in beyond["problem"]
    many = read(served, lines(["x"] * 10_001), "notes.jsonl")
    assert "more than 10,000 texts" in many["problem"]


def test_annotations_in_a_zip_hide_no_text(served: Standing) -> None:
    content = zipped(
        a_txt="Lithium.",
        a_ann="T1\tChemical 0 7\tLithium\n",
        b_docx=b"no docx",
        c_csv="text\nTremor\n",
        d__e_txt="Pain.",
        f_json='{"Nope": 3}',
    )
    found = read(served, content)
    assert (found["documents"], found["quarantined"]) == (5, 2)
    assert found["losses"] == {"annotation-files": 1}
    sentences = "\n".join(found["reasons"])
    assert ("b.docx" in sentences, "f.json" in sentences) == (True, True)


def test_texts_are_named_by_their_folders(served: Standing) -> None:
    files = {"p1__note_txt": "A.", "p2__note_txt": "B.", "-x/ä ö__note_txt": "C.", "c_ris": RIS}
    texts = read(served, zipped(**files, **{"p1/" * 40 + "deep_txt": "D."}))
    assert texts["reasons"] == {}
    result = served.ask("GET", f"/v1/jobs/{texts['id']}/result").content
    ids = {json.loads(line)["id"] for line in result.splitlines()}
    assert ids == {"p1/note", "p2/note", "x/ä ö/note", "c:1", "p1/" * 7 + "deep"}


def test_a_trial_does_not_remove_its_texts(small: Path) -> None:
    settings = ServeSettings(jobs=1)
    with standing({"small": PipelineOpener(given=str(small))}, settings) as service:
        texts = read(service, b"A tremor.", "a.txt")
        for _ in range(3):
            reply = service.ask("POST", f"/v1/jobs/{texts['id']}/names", {"rows": ROWS})
            assert reply.status == 202, reply.content
            assert ended(service, reply.json["id"])["problem"] == ""
        (service.service.jobs.result(texts["id"])).unlink()
        reply = service.ask("POST", f"/v1/jobs/{texts['id']}/names", {"rows": ROWS})
        assert (reply.status, "were removed meanwhile" in reply.json["detail"]) == (409, True)


def test_the_format_of_texts_is_not_chosen(served: Standing) -> None:
    reply = served.ask("POST", "/v1/jobs?name=a.txt&texts=true&format=bioc", b"x", BYTES)
    assert (reply.status, "writes JSON Lines" in reply.json["detail"]) == (422, True)


def test_only_jobs_of_texts_are_tried(served: Standing) -> None:
    texts = read(served, b"A tremor.", "a.txt")
    path = f"/v1/jobs/{texts['id']}/names"
    refused = served.ask("POST", path, {"rows": ROWS, "documents": [{"text": "x"}]})
    assert refused.status == 422
    refused = served.ask("POST", path, {"rows": [{"action": "burn", "surface": "x"}]})
    assert "'burn' is not known" in refused.json["detail"]
    tried = served.ask("POST", path, {"rows": ROWS}).json
    assert ended(served, tried["id"])["status"] == "done"
    again = served.ask("POST", f"/v1/jobs/{tried['id']}/names", {"rows": ROWS})
    assert (again.status, "texts=true" in again.json["detail"]) == (409, True)
    poison = served.ask("POST", f"{path}?pipeline=poison", {"rows": ROWS})
    found = ended(served, poison.json["id"])
    assert "no step of this pipeline finds the names of a term pack" in found["problem"]


def test_texts_of_others_are_not_found(small: Path, tmp_path: Path) -> None:
    tokens = {name: add_token(tmp_path / "t.json", name, "curator") for name in ("Ada", "Ben")}
    settings = ServeSettings(tokens=read_tokens(tmp_path / "t.json"))
    with standing({"small": PipelineOpener(given=str(small))}, settings) as service:
        ada, ben = ({"Authorization": f"Bearer {token}"} for token in tokens.values())
        texts = send(service, b"A tremor.", "a.txt", **ada).json
        path = f"/v1/jobs/{texts['id']}/names"
        headers = {"Content-Type": "application/json"}
        assert service.ask("POST", path, {"rows": ROWS}, {**headers, **ben}).status == 404
        assert service.ask("POST", path, {"rows": ROWS}, {**headers, **ada}).status in (202, 409)
