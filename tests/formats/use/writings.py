"""Documents that users have, and what a file of each format must hold of them, told without our
readers.
"""

from __future__ import annotations

import csv
import html.parser
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import msgspec
from tests.formats.oracle.office import cells

from fascicle.core.document import Document, Link, Mention, Section

PLAIN = Document(
    id="7",
    text="Lithium 😀 causes tremor",
    sections=(Section(0, 7, "title"), Section(8, 23, "abstract")),
    mentions=(
        Mention(
            ((0, 7),),
            "Chemical",
            links=(Link(id="D008094", ontology="MESH", curie="MESH:D008094"),),
        ),
        Mention(((17, 23),), "Disease"),
    ),
)
HARD = Document(
    id="PMC1/2",
    text="lung and\tliver \u0001cancer\nβ",
    mentions=(
        Mention(((0, 4), (16, 22)), "Disease", score=0.25),
        Mention(((9, 22),), "Disease", score=0.5),
        Mention(
            ((9, 14),),
            "Organ",
            score=0.125,
            links=(Link(id="0002107", ontology="UBERON", curie="UBERON:0002107"),),
        ),
    ),
)
BOTH: Final = (PLAIN, HARD)


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What must be in a file.

    Attributes:
        format: its name.
        path: of the output.
        document: that is written.
        holds: reads the output with a program that is not ours, and says whether it is right.
        loses: whether something cannot be held, so that the report must name a loss or a document
            set aside.
    """

    format: str
    path: str
    document: Document
    holds: Callable[[Path], bool]
    loses: bool = False


def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _marks(found: list[dict[str, Any]], text: str) -> list[tuple[str, ...]]:
    return [tuple(text[start:end] for start, end in one["spans"]) for one in found]


def _native(path: Path) -> bool:
    found = _json(path)
    source = PLAIN if found["id"] == "7" else HARD
    said = [
        (one["type"], one.get("score"), tuple(map(tuple, one["spans"])))
        for one in found["mentions"]
    ]
    return found["text"] == source.text and sorted(map(str, said)) == sorted(
        str((one.type, one.score, one.spans)) for one in source.mentions
    )


def _records(path: Path) -> bool:
    found = _json(path)
    text = found["text"]
    parts = [one.get("spans") or [[one["start"], one["end"]]] for one in found["entities"]]
    source = PLAIN if text == PLAIN.text else HARD
    return text == source.text and sorted(
        (one["type"], tuple(map(tuple, spans)))
        for one, spans in zip(found["entities"], parts, strict=True)
    ) == sorted((one.type, one.spans) for one in source.mentions)


def _pubtator(path: Path) -> bool:
    lines = path.read_text("utf-8").split("\n")
    title, abstract = (lines[at].split("|", 2)[2] for at in (0, 1))
    text = f"{title} {abstract}"
    rows = [line.split("\t") for line in lines[2:] if line]
    return all(text[int(row[1]) : int(row[2])] == row[3] for row in rows) and {
        row[3] for row in rows
    } >= {"tremor"}


def _hard_pubtator(path: Path) -> bool:
    lines = path.read_text("utf-8").split("\n")
    text = " ".join(line.split("|", 2)[2] for line in lines[:2])
    rows = [line.split("\t") for line in lines[2:] if line]
    return {(row[3], row[4]) for row in rows} >= {("liver", "Organ")} and all(
        text[int(row[1]) : int(row[2])] == row[3] for row in rows
    )


def _bioc(path: Path) -> bool:
    root = ElementTree.fromstring(path.read_bytes())
    return _bioc_fits(
        [
            (int(one.findtext("offset") or 0), one.findtext("text") or "")
            for one in root.iter("passage")
        ],
        [
            (
                [
                    (int(at.get("offset", 0)), int(at.get("length", 0)))
                    for at in one.iter("location")
                ],
                one.findtext("text"),
            )
            for one in root.iter("annotation")
        ],
    )


def _bioc_json(path: Path) -> bool:
    found = _json(path)
    (entry,) = found["documents"] if "documents" in found else found["PubTator3"]
    annotations = [one for passage in entry["passages"] for one in passage["annotations"]]
    return _bioc_fits(
        [(passage["offset"], passage["text"]) for passage in entry["passages"]],
        [
            ([(at["offset"], at["length"]) for at in one["locations"]], one["text"])
            for one in annotations
        ],
    )


def _bioc_fits(
    passages: list[tuple[int, str]], annotations: list[tuple[list[tuple[int, int]], str | None]]
) -> bool:
    text = ""
    for offset, part in passages:
        text = text.ljust(offset) + part
    said = [
        " ".join(text[at : at + length] for at, length in places) == words
        for places, words in annotations
    ]
    return all(said) and len(said) >= 2


def _conll(path: Path) -> bool:
    rows = [
        line.split("\t")
        for line in path.read_text("utf-8").split("\n")
        if line and "-DOCSTART-" not in line
    ]
    return [row for row in rows if row[-1] != "O"] == [
        ["Lithium", "B-Chemical"],
        ["tremor", "B-Disease"],
    ]


def _hard_conll(path: Path) -> bool:
    rows = [
        line.split("\t")
        for line in path.read_text("utf-8").split("\n")
        if line and "-DOCSTART-" not in line
    ]
    tags = [row[-1] for row in rows if row[0] in ("liver", "cancer") or "cancer" in row[0]]
    return tags[:1] == ["B-Disease"] and all(len(row) == 2 for row in rows)


def _brat(path: Path) -> bool:
    (text,), (rows,) = (
        [one.read_bytes().decode() for one in path.glob(f"*.{end}")] for end in ("txt", "ann")
    )
    found = []
    for row in rows.splitlines():
        if row.startswith("T"):
            _, place, said = row.split("\t")
            kind, *spans = place.split(" ", 1)
            parts = [tuple(map(int, one.split(" "))) for one in spans[0].split(";")]
            found.append((kind, tuple(text[start:end] for start, end in parts), said))
    return bool(found) and all(
        " ".join(parts).replace("\n", " ") == said for _, parts, said in found
    )


def _brat_zip(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        text = archive.read(next(one for one in names if one.endswith(".txt"))).decode()
    return text == HARD.text and not any("/" in one for one in names)


def _parquet(path: Path) -> bool:
    import pyarrow.parquet as pq

    files = [pq.read_table(one) for one in sorted(path.rglob("*.parquet"))]
    (mentions,) = (one.to_pylist() for one in files if "start" in one.column_names)
    (documents,) = (one.to_pylist() for one in files if "sentences" in one.column_names)
    text = documents[0]["text"]
    return len(mentions) >= 2 and all(
        " ".join(text[at["start"] : at["end"]] for at in one["spans"]) == one["text"]
        for one in mentions
    )


def _spacy(path: Path) -> bool:
    found = msgspec.msgpack.decode(zlib.decompress(path.read_bytes()))
    return {"Lithium", "Chemical", "Disease"} <= set(found["strings"]) and found["attrs"][0] == 65


def _spacy_hard(path: Path) -> bool:
    found = msgspec.msgpack.decode(zlib.decompress(path.read_bytes()))
    return any(found["span_groups"]) and {"liver", "Organ"} <= set(found["strings"])


def _kazu(path: Path) -> bool:
    found = _json(path)
    return all(
        "".join(section["text"][at["start"] : at["end"]] for at in one["spans"]).split()
        == one["match"].split()
        or len(one["spans"]) > 1
        for section in found["sections"]
        for one in section["entities"]
    ) and any(section["entities"] for section in found["sections"])


def _studio(path: Path) -> bool:
    (task,) = _json(path)
    text = task["data"]["text"]
    regions = [
        region for one in (*task["annotations"], *task["predictions"]) for region in one["result"]
    ]
    values = [one["value"] for one in regions if one["type"] == "labels"]
    return len(values) >= 2 and all(
        text[one["start"] : one["end"]] == one["text"] for one in values
    )


def _table(path: Path) -> bool:
    content = path.read_bytes().decode("utf-8-sig" if path.suffix == ".csv" else "utf-8")
    rows = (
        list(csv.DictReader(io.StringIO(content, newline="")))
        if path.suffix == ".csv"
        else [
            dict(zip(content.split("\n")[0].split("\t"), line.split("\t"), strict=True))
            for line in content.split("\n")[1:]
            if line
        ]
    )
    source = PLAIN if rows[0]["document"] == "7" else HARD
    places = {";".join(str(start) for start, _ in one.spans): one for one in source.mentions}
    return len(rows) == len(source.mentions) and {row["start"] for row in rows} == set(places)


def _task(path: Path) -> bool:
    """The mentions of one fragment, as a program reads a TSV that knows no quotes."""
    with path.open(encoding="utf-8", newline="\n") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    start, end, name = (
        ("off0", "off1", "filename") if "off0" in rows[0] else ("begin", "end", "tweets_id")
    )
    source = PLAIN if rows[0][name] == "7" else HARD
    whole = {one.spans[0] for one in source.mentions if len(one.spans) == 1}
    return len(rows) == len(whole) and {(int(row[start]), int(row[end])) for row in rows} == whole


def _sheet(path: Path) -> bool:
    header, *rows = ([text for _, text in row] for row in cells(path.read_bytes()))
    source = PLAIN if rows[0][0] == "7" else HARD
    places = {";".join(str(start) for start, _ in one.spans) for one in source.mentions}
    return (
        len(rows) == len(source.mentions) and {row[header.index("start")] for row in rows} == places
    )


def _predictions(path: Path) -> bool:
    found = _json(path)
    source = PLAIN if found["id"] == "7" else HARD
    return source.text not in path.read_text("utf-8") and len(found["mentions"]) == len(
        source.mentions
    )


def _view(path: Path) -> bool:
    content = path.read_text("utf-8")
    return "Disease" in content and ("tremor" in content or "liver" in content)


class _Texts(html.parser.HTMLParser):
    """The text of a page but for the names of types, which stand in elements of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._open: list[bool] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "meta":
            self._open.append("tag" in (dict(attrs).get("class") or "").split())

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if not any(self._open):
            self.found.append(data)


def _page(path: Path) -> bool:
    parser = _Texts()
    parser.feed(path.read_text("utf-8"))
    shown = "".join("".join(parser.found).split())
    return any("".join(one.text.replace("\u0001", "␁").split()) in shown for one in BOTH)


def _plain(path: Path) -> bool:
    return path.read_bytes().decode() in (PLAIN.text, HARD.text)


BARE: Final = tuple(Document(id=one.id, text=one.text) for one in BOTH)
ALL: Final = (
    Kept(format="jsonl", path="a.jsonl", document=PLAIN, holds=_native),
    Kept(format="jsonl", path="a.jsonl", document=HARD, holds=_native),
    Kept(format="records", path="a.records.jsonl", document=PLAIN, holds=_records, loses=True),
    Kept(format="records", path="a.records.jsonl", document=HARD, holds=_records, loses=True),
    Kept(format="pubtator", path="a.pubtator", document=PLAIN, holds=_pubtator),
    Kept(format="pubtator", path="a.pubtator", document=HARD, holds=_hard_pubtator, loses=True),
    Kept(format="bioc", path="a.xml", document=PLAIN, holds=_bioc),
    Kept(format="bioc", path="a.xml", document=HARD, holds=_bioc, loses=True),
    Kept(format="bioc-json", path="a.bioc.json", document=PLAIN, holds=_bioc_json),
    Kept(format="bioc-json", path="a.bioc.json", document=HARD, holds=_bioc_json, loses=True),
    Kept(format="pubtator3", path="a.pubtator3.json", document=PLAIN, holds=_bioc_json),
    Kept(format="pubtator3", path="a.pubtator3.json", document=HARD, holds=_bioc_json, loses=True),
    Kept(format="conll", path="a.conll", document=PLAIN, holds=_conll, loses=True),
    Kept(format="conll", path="a.conll", document=HARD, holds=_hard_conll, loses=True),
    Kept(format="brat", path="c", document=PLAIN, holds=_brat, loses=True),
    Kept(format="brat", path="c.zip", document=HARD, holds=_brat_zip, loses=True),
    Kept(format="parquet", path="a.parquet", document=PLAIN, holds=_parquet),
    Kept(format="parquet", path="a.parquet", document=HARD, holds=_parquet),
    Kept(format="spacy", path="a.spacy", document=PLAIN, holds=_spacy, loses=True),
    Kept(format="spacy", path="a.spacy", document=HARD, holds=_spacy_hard, loses=True),
    Kept(format="kazu", path="a.kazu.jsonl", document=PLAIN, holds=_kazu),
    Kept(format="kazu", path="a.kazu.jsonl", document=HARD, holds=_kazu),
    Kept(
        format="label-studio", path="a.label-studio.json", document=PLAIN, holds=_studio, loses=True
    ),
    Kept(
        format="label-studio", path="a.label-studio.json", document=HARD, holds=_studio, loses=True
    ),
    Kept(format="tsv", path="a.tsv", document=PLAIN, holds=_table, loses=True),
    Kept(format="tsv", path="a.tsv", document=HARD, holds=_table, loses=True),
    Kept(format="csv", path="a.csv", document=PLAIN, holds=_table, loses=True),
    Kept(format="csv", path="a.csv", document=HARD, holds=_table, loses=True),
    *(
        Kept(format=name, path=f"a.{name}.tsv", document=document, holds=_task, loses=True)
        for name in ("livingner", "socialdisner")
        for document in BOTH
    ),
    *(
        Kept(format="xlsx", path="a.xlsx", document=one, holds=_sheet, loses=True)
        for one in (PLAIN, HARD)
        if find_spec("openpyxl")
    ),
    Kept(format="predictions", path="a.predictions.jsonl", document=PLAIN, holds=_predictions),
    Kept(format="predictions", path="a.predictions.jsonl", document=HARD, holds=_predictions),
    Kept(format="text", path="a.txt", document=PLAIN, holds=_view, loses=True),
    Kept(format="text", path="a.txt", document=HARD, holds=_view, loses=True),
    Kept(format="html", path="a.html", document=PLAIN, holds=_page, loses=True),
    Kept(format="html", path="a.html", document=HARD, holds=_page, loses=True),
    Kept(format="plain", path="a.text", document=BARE[0], holds=_plain, loses=True),
    Kept(format="plain", path="a.text", document=BARE[1], holds=_plain, loses=True),
)
