"""Runs that are brought up to date: the result is that of a run over the latest state of all
documents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from poison import Finds, open_poison, run_of

from fascicle.core import codec
from fascicle.core.document import Document, Patch
from fascicle.errors import FascicleError, OutputError, UsageError
from fascicle.formats.files import latest
from fascicle.pipeline.pipeline import Pipeline
from fascicle.pipeline.running.folder import SUCCESS
from fascicle.pipeline.running.plan import replaced_documents
from fascicle.pipeline.running.records import Entry, Shard, ShardMarker
from fascicle.pipeline.running.run import Run
from fascicle.pipeline.running.shard_worker import OpenWorker, ShardReader
from fascicle.settings.pipeline import Limits, Shards
from fascicle.verbs.tasks.run import list_quarantined

Edit = tuple[str, int]
HISTORY = st.lists(
    st.tuples(
        st.lists(st.tuples(st.sampled_from("1234567"), st.integers(1, 2)), min_size=1, max_size=6),
        st.sets(st.sampled_from("12345678"), max_size=3),
    ),
    min_size=1,
    max_size=4,
)


class Here:
    """Does shards in this process; it notes which."""

    did: list[str] = []  # noqa: RUF012 - emptied by each test

    def __init__(self, open_worker: OpenWorker, *, limits: Limits, workers: int) -> None:
        self._open = open_worker

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(
        self, shards: Sequence[Shard], *, tick: Callable[[int, int], None]
    ) -> Iterator[ShardMarker]:
        worker = self._open()
        for shard in shards:
            tick(0, 0)
            self.did.append(shard.name)
            yield worker.process(shard)


def citation(pmid: str, title: str, version: int = 1) -> str:
    return (
        "<PubmedArticle><MedlineCitation><PMID "
        f'Version="{version}">{pmid}</PMID><Article><ArticleTitle>{title}'
        "</ArticleTitle></Article></MedlineCitation></PubmedArticle>"
    )


def withdrawn(pmids: Sequence[str]) -> str:
    return (
        f"<DeleteCitation>{''.join(f'<PMID>{one}</PMID>' for one in pmids)}</DeleteCitation>"
        if pmids
        else ""
    )


def files(folder: Path, *contents: str) -> list[Path]:
    paths = [folder / f"{number}.xml" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_text(f"<PubmedArticleSet>{content}</PubmedArticleSet>", encoding="utf-8")
    return paths


def here(paths: Sequence[Path], folder: Path, **changes: object) -> Run:
    return run_of(paths, folder, pool=Here, shards=Shards(documents=2), **changes)


def documents(folder: Path) -> list[Document]:
    """The documents of the parts that the account names."""
    parts = json.loads((folder / "report.json").read_bytes())["parts"]
    return [
        codec.decode(line) for part in parts for line in (folder / part).read_bytes().splitlines()
    ]


def numbers(folder: Path) -> dict[str, object]:
    """The account, but for times and the division into shards."""
    told = json.loads((folder / "report.json").read_bytes())
    return {
        name: told[name]
        for name in ("documents", "done", "quarantined", "characters", "mentions", "reasons")
    }


@settings(max_examples=25, deadline=None)
@given(history=HISTORY, cuts=st.sets(st.integers(1, 3)))
def test_an_updated_run_has_what_a_run_over_the_latest_state_has(
    tmp_path_factory: pytest.TempPathFactory,
    history: list[tuple[list[Edit], set[str]]],
    cuts: set[int],
) -> None:
    place = tmp_path_factory.mktemp("a")
    contents = []
    for number, (edits, gone) in enumerate(history):
        rows = [
            citation(pmid, f"x {number} {at} {pmid}", version)
            for at, (pmid, version) in enumerate(edits)
        ]
        contents.append("".join(rows) + withdrawn(sorted(gone)))
    paths = files(place, *contents)
    for count in sorted({one for one in cuts if one < len(paths)} | {len(paths)}):
        here(paths[:count], place / "updated").do(update=True)
    here(paths, place / "anew").do(update=True)
    expected = list(latest(paths))
    with open_poison() as pipeline:
        answers = [result.document for result in pipeline.results(expected)]
    assert documents(place / "updated") == documents(place / "anew") == answers
    assert numbers(place / "updated") == numbers(place / "anew")
    assert numbers(place / "anew")["documents"] == len(expected)


def test_only_shards_with_other_documents_are_done_again(tmp_path: Path) -> None:
    # shards 01, 23, 45
    first = "".join(citation(str(number), f"x {number}") for number in range(6))
    paths = files(
        tmp_path, first, citation("2", "new xx") + citation("9", "x"), withdrawn(["5", "77"])
    )
    out = tmp_path / "out"
    here(paths[:1], out).do()  # a run without updates can be brought up to date
    Here.did.clear()
    totals = here(paths[:2], out).do(update=True)
    assert Here.did == ["00001", "00003"]
    assert (totals.documents, totals.done, totals.mentions) == (7, 7, {"finds/X": 8})
    Here.did.clear()
    assert here(paths, out).do(update=True).done == 6
    assert Here.did == ["00002"]
    assert [one.id for one in documents(out)] == ["0", "1", "3", "4", "2", "9"]
    Here.did.clear()
    assert here(paths, out).do(update=True) == here(paths, out).do(resume=True)
    assert Here.did == []


class Notes(Finds):
    """Notes which documents it was given."""

    given: list[str] = []  # noqa: RUF012 - emptied by each test

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        self.given.extend(document.id for document in documents)
        return super().run(documents)


def test_what_was_done_before_an_update_is_not_done_again(tmp_path: Path) -> None:
    first = "".join(citation(str(number), f"x {number}") for number in range(5)) + citation(
        "5", "!raise x"
    )
    paths = files(
        tmp_path,
        first,
        citation("2", "new xx") + withdrawn(["4"]),
        withdrawn(["0"]),
        withdrawn(["3"]),
    )
    noting = partial(Pipeline, [Notes()])
    out = tmp_path / "out"
    here(paths[:1], out, open_pipeline=noting).do()
    Notes.given.clear()
    here(paths[:2], out, open_pipeline=noting).do(update=True)
    # what failed is tried again, as in a run over the latest state
    assert Notes.given == ["5", "2"]
    Notes.given.clear()
    (out / "part-00000.jsonl").write_bytes(
        (out / "part-00000.jsonl").read_bytes().replace(b"x 1", b"x 7")
    )
    here(paths[:3], out, open_pipeline=noting).do(update=True)
    assert Notes.given == ["1"]  # for the part is another one than its marker says
    Notes.given.clear()
    totals = here(paths, out, open_pipeline=noting).do(update=True)
    assert (totals.documents, totals.done, totals.quarantined, Notes.given) == (3, 2, 1, [])
    here(paths, tmp_path / "anew", open_pipeline=noting).do(update=True)
    assert documents(out) == documents(tmp_path / "anew")


def test_inputs_are_not_read_again_for_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = "".join(citation(str(number), f"x {number}") for number in range(5)) + citation(
        "5", "!raise x"
    )
    paths = files(
        tmp_path, first, citation("2", "new xx") + withdrawn(["1"]), withdrawn(["0", "4"])
    )
    here(paths[:1], tmp_path / "out").do()
    read, names = ShardReader.read, []
    monkeypatch.setattr(
        ShardReader, "read", lambda reader, shard: names.append(shard.name) or read(reader, shard)
    )
    here(paths[:2], tmp_path / "out").do(update=True)
    assert names == ["00003"]
    here(paths, tmp_path / "out").do(update=True)
    assert names == ["00003", "00002"]  # of whose documents one failed
    here(paths, tmp_path / "anew").do(update=True)
    assert documents(tmp_path / "out") == documents(tmp_path / "anew")
    assert numbers(tmp_path / "out") == numbers(tmp_path / "anew")


@pytest.mark.parametrize("format_name", ["predictions", "pubtator"])
def test_parts_in_other_formats_are_made_anew(tmp_path: Path, format_name: str) -> None:
    first = "".join(citation(str(number), f"x {number}") for number in range(4))
    paths = files(tmp_path, first, citation("2", "new xx"), withdrawn(["3", "0"]))
    for count in (1, 2, 3):
        here(paths[:count], tmp_path / "out", format=format_name).do(update=True)
    here(paths, tmp_path / "anew", format=format_name).do(update=True)
    found, expected = (
        [part.read_bytes() for part in sorted((tmp_path / name).glob("part-*"))]
        for name in ("out", "anew")
    )
    assert found == expected
    assert len(found) == 3


def test_an_update_that_is_interrupted_goes_on(tmp_path: Path) -> None:
    first = "".join(citation(str(number), f"x {number}") for number in range(6))
    paths = files(
        tmp_path, first, "".join(citation(str(number), f"new x {number}") for number in (0, 3, 8))
    )
    here(paths, tmp_path / "anew").do(update=True)
    here(paths[:1], tmp_path / "out").do()

    class StopError(BaseException):
        pass

    def stop(now: object) -> None:
        if len(Here.did) > 1:
            raise StopError

    Here.did.clear()
    with pytest.raises(StopError):
        here(paths, tmp_path / "out").do(update=True, progress=stop)
    assert not (tmp_path / "out" / SUCCESS).exists()
    assert here(paths, tmp_path / "out").do(resume=True).done == 7
    assert documents(tmp_path / "out") == documents(tmp_path / "anew")
    assert (tmp_path / "out" / SUCCESS).exists()


def test_quarantine_follows_the_latest_state(tmp_path: Path) -> None:
    paths = files(
        tmp_path,
        citation("1", "!raise x") + citation("2", "x") + citation("3", "!raise x"),
        citation("1", "good x") + citation("", "no id") + citation("2", "!raise x"),
    )
    out = tmp_path / "out"
    totals = here(paths[:1], out).do(update=True)
    assert (totals.documents, totals.done, totals.reasons) == (3, 1, {"finds: LookupError": 2})
    (out / "retry-0001.jsonl").write_bytes(b"")  # as left by a try of documents in quarantine
    totals = here(paths, out).do(update=True)
    assert (totals.documents, totals.done) == (4, 1)
    assert totals.reasons == {"finds: LookupError": 2, "read: FormatError": 1}
    assert {one.id for one in list_quarantined(str(out))} == {"2", "3", f"{paths[1]}:1"}
    assert not (out / "retry-0001.jsonl").exists()


def test_what_cannot_be_brought_up_to_date_is_refused(tmp_path: Path) -> None:
    paths = files(tmp_path, citation("1", "x") + citation("1", "x again"), citation("2", "x"))
    here(paths[:1], tmp_path / "twice").do()
    with pytest.raises(UsageError, match="twice"):
        here(paths, tmp_path / "twice").do(update=True)
    here(paths, tmp_path / "out").do(update=True)
    for other in (paths[::-1], paths[:1]):
        with pytest.raises(OutputError, match="inputs"):
            here(other, tmp_path / "out").do(update=True)
    files(tmp_path, citation("1", "x"))
    with pytest.raises(FascicleError, match="inputs"):
        here(paths, tmp_path / "out").do(update=True)


def test_what_an_update_leaves_out_is_counted(tmp_path: Path) -> None:
    paths = files(
        tmp_path,
        citation("1", "x") + citation("2", "x", 2) + citation("2", "x") + citation("4", "!raise x"),
        citation("1", "x new") + citation("3", "x") + citation("3", "x again") + withdrawn(["2"]),
        citation("5", "x") + withdrawn(["4"]),
    )
    out = tmp_path / "out"
    here(paths[:1], out).do(update=True)
    assert (out / "quarantine-00001.jsonl").exists()
    totals = here(paths, out).do(update=True)
    counts = {"repeated": 1, "replaced": 2, "withdrawn": 2}
    assert totals.left_out == counts
    assert json.loads((out / "report.json").read_bytes())["left_out"] == counts
    assert not list(out.glob("quarantine-0*"))


def test_workers_do_the_shards_of_an_update(tmp_path: Path) -> None:
    first = "".join(citation(str(number), f"x {number}") for number in range(30))
    paths = files(tmp_path, first, citation("2", "new xx") + withdrawn(["29"]))
    out, anew = tmp_path / "out", tmp_path / "anew"
    run_of(paths[:1], out, workers=2).do()
    assert run_of(paths, out, workers=2).do(update=True).done == 29
    here(paths, anew).do(update=True)
    assert documents(out) == documents(anew)


@given(
    st.lists(
        st.tuples(
            st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 3)), max_size=5),
            st.sets(st.sampled_from("abc")),
        )
    )
)
def test_what_is_replaced_is_all_but_the_latest(history: list[tuple[list[Edit], set[str]]]) -> None:
    entries: list[Entry] = []
    standing: dict[str, tuple[int, int, int]] = {}
    everything = set()
    for number, (rows, gone) in enumerate(history):
        versions = {at: version for at, (_, version) in enumerate(rows) if version != 1}
        ids = tuple(identifier for identifier, _ in rows)
        entries.append(Entry(input=number, shard=str(number), ids=ids, versions=versions))
        entries.append(Entry(input=number, withdrawn=tuple(gone)))
        for at, (identifier, version) in enumerate(rows):
            everything.add((str(number), at))
            if standing.get(identifier, (-1,))[:2] <= (number, version):
                standing[identifier] = (number, version, at)
        for identifier in gone:
            standing.pop(identifier, None)
    found = {
        (shard, place)
        for shard, places in replaced_documents(lambda: entries).items()
        for place in places
    }
    assert everything - found == {(str(number), at) for number, _, at in standing.values()}
