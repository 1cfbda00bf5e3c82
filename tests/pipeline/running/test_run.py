"""Runs by workers: nothing lost, nothing doubled, the same bytes; poison alone in quarantine."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from poison import LIMITS, open_batches, open_never, open_poison, open_replaced, run_of

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.errors import FascicleError, InputError, OutputError, UsageError
from fascicle.formats import read
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import Input, ReadRequest, read_inputs
from fascicle.pipeline.loading import PipelineOpener
from fascicle.pipeline.running import run as running
from fascicle.pipeline.running.folder import SUCCESS, RunFolder
from fascicle.pipeline.running.parts import expand_runs
from fascicle.pipeline.running.records import MarkerFile, ShardMarker
from fascicle.pipeline.running.report import current_quarantine, suspects
from fascicle.pipeline.running.run import Run, RunProgress, default_workers
from fascicle.pipeline.running.supervisor import Supervisor
from fascicle.settings.pipeline import Limits, Shards
from fascicle.verbs.tasks.run import list_quarantined

Write = Callable[[Sequence[str]], Path]
TEXTS = [f"x and {number}" for number in range(45)]


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("part-*"))}


def ids(folder: Path) -> list[str]:
    return [
        codec.decode(line).id for content in parts(folder).values() for line in content.splitlines()
    ]


def test_every_document_is_done_once_with_the_same_bytes_for_one_and_two_workers(
    written: Write, tmp_path: Path
) -> None:
    path = written(TEXTS)
    totals = run_of([path], tmp_path / "one").do()
    assert (totals.documents, totals.done, totals.quarantined) == (45, 45, 0)
    assert totals.mentions == {"finds/X": 45}
    assert set(totals.steps) == {"cut", "finds"}
    assert all(seconds >= 0 for seconds in totals.steps.values())
    assert sum(totals.steps.values()) <= totals.seconds + 0.01
    run_of([path], tmp_path / "two", workers=2).do()
    assert parts(tmp_path / "one") == parts(tmp_path / "two")
    assert ids(tmp_path / "one") == [f"d{at}" for at in range(45)]
    found = {
        one.id: one
        for line in parts(tmp_path / "one").values()
        for one in map(codec.decode, line.splitlines())
    }
    for result in open_poison().results(
        [Document(id=f"d{at}", text=text) for at, text in enumerate(TEXTS)]
    ):
        assert found[result.given.id] == result.document


def test_a_dead_worker_costs_one_document(written: Write, tmp_path: Path) -> None:
    texts = list(TEXTS[:20])
    texts[13] = "!exit x"
    texts[4] = "!raise x"
    totals = run_of([written(texts)], tmp_path / "out").do()
    assert (totals.documents, totals.done) == (20, 18)
    assert totals.reasons == {"finds: LookupError": 1, "finds: exit:7": 1}
    first, second = list_quarantined(str(tmp_path / "out"))
    assert (first.id, first.place, first.shard, first.attempt) == ("d4", 4, "00000", 1)
    assert (second.id, second.place, second.shard) == ("d13", 3, "00001")
    assert second.attempt > 2
    assert second.restored() == Document(id="d13", text="!exit x")
    assert ids(tmp_path / "out") == [f"d{at}" for at in range(20) if at not in (4, 13)]


@pytest.mark.slow
def test_all_poisons_are_alone_in_quarantine(written: Write, tmp_path: Path) -> None:
    expected = {
        "hang": "killed:time",
        "segfault": "killed:SIGSEGV",
        "allocate": "MemoryError",
        "outside": "ValueError",
        "grow": "killed:memory",
    }
    texts = list(TEXTS)
    for at, name in enumerate(expected):
        texts[3 + 9 * at] = f"!{name} x"
    limits = Limits(seconds=2.5, seconds_per_million=0, memory=300, start=60)
    totals = run_of([written(texts)], tmp_path / "out", limits=limits, workers=2).do()
    assert totals.done == 40
    found = {
        one.restored().text.split()[0][1:]: one.error
        for one in list_quarantined(str(tmp_path / "out"))
    }  # type: ignore[union-attr]
    assert found == expected
    bad = {f"d{3 + 9 * at}" for at in range(5)}
    assert ids(tmp_path / "out") == [f"d{at}" for at in range(45) if f"d{at}" not in bad]


def killed_at_random(
    run: Callable[[Callable[[Supervisor], None]], None], *, kills: int, seed: int
) -> int:
    """Kills workers at random moments of a run; returns how many were killed."""
    chance, count, stop = random.Random(seed), [0], threading.Event()

    def kill(supervisor: Supervisor) -> None:
        def loop() -> None:
            while count[0] < kills and not stop.wait(chance.uniform(0.05, 0.6)):
                pids = supervisor.pids
                if pids:
                    with suppress(ProcessLookupError):
                        os.kill(chance.choice(pids), signal.SIGKILL)
                        count[0] += 1

        threading.Thread(target=loop, daemon=True).start()

    try:
        run(kill)
    finally:
        stop.set()
    return count[0]


@pytest.mark.slow
def test_workers_that_are_killed_at_random_lose_nothing(written: Write, tmp_path: Path) -> None:
    path = written([f"x {number}" for number in range(400)])
    shards = Shards(documents=50)
    slow = partial(open_poison, 0.002)
    run_of([path], tmp_path / "calm", shards=shards).do()
    run = run_of([path], tmp_path / "out", shards=shards, workers=2, open_pipeline=slow)
    count = killed_at_random(lambda kill: run.do(started=kill) and None, kills=6, seed=7)  # type: ignore[func-returns-value]
    assert count > 0
    assert parts(tmp_path / "out") == parts(tmp_path / "calm")


class StopError(BaseException):
    """In the place of an interrupt."""


def interrupted(run: Callable[..., object], after: int) -> None:
    def progress(now: object) -> None:
        if now.documents >= after:  # type: ignore[attr-defined]
            raise StopError

    with pytest.raises(StopError):
        run(progress=progress)


def test_an_interrupted_run_goes_on_with_the_same_bytes(written: Write, tmp_path: Path) -> None:
    path = written(TEXTS)
    run_of([path], tmp_path / "calm").do()
    run = run_of([path], tmp_path / "out", open_pipeline=partial(open_poison, 0.002))
    interrupted(run.do, 11)
    names = [
        path.name.replace("done", "part") + "l" for path in (tmp_path / "out").glob("done-*.json")
    ]
    before = {name: (tmp_path / "out" / name).stat().st_mtime_ns for name in names}
    assert 1 <= len(before) < 5
    assert not (tmp_path / "out" / SUCCESS).exists()
    assert not list((tmp_path / "out").glob(".*.tmp"))
    with pytest.raises(OutputError, match="resume"):
        run.do()
    totals = run.do(resume=True)
    assert totals.done == 45
    assert parts(tmp_path / "out") == parts(tmp_path / "calm")
    assert all((tmp_path / "out" / name).stat().st_mtime_ns == at for name, at in before.items())
    assert run.do(resume=True) == totals  # nothing is left to do


def test_a_part_without_a_marker_and_a_marker_without_its_part_do_not_count(
    written: Write, tmp_path: Path
) -> None:
    path, out = written(TEXTS), tmp_path / "out"
    run = run_of([path], out)
    run.do()
    whole = parts(out)
    (out / "done-00001.json").unlink()
    (out / "part-00001.jsonl").write_bytes(b"half")
    (out / "part-00003.jsonl").unlink()
    run.do(resume=True)
    assert parts(out) == whole


def test_workers_with_another_pipeline_than_that_of_the_run_do_nothing(
    written: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = written(TEXTS[:5]), tmp_path / "out"
    monkeypatch.setenv("FASCICLE_TEST_PLANNER", str(os.getpid()))
    with pytest.raises(FascicleError, match="finds"):
        run_of([path], out, open_pipeline=open_replaced).do()
    assert not parts(out)
    run_of([path], out).do(resume=True)
    assert len(ids(out)) == 5


def test_another_pipeline_input_or_option_is_refused_by_name(
    written: Write, tmp_path: Path
) -> None:
    path, out = written(TEXTS[:5]), tmp_path / "out"
    run_of([path], out).do()
    with pytest.raises(OutputError, match="finds"):
        run_of([path], out, open_pipeline=partial(open_poison, 0.0, "2")).do(resume=True)
    with pytest.raises(OutputError, match="options"):
        run_of([path], out, shards=Shards(documents=3)).do(resume=True)
    written(TEXTS[:6])
    with pytest.raises(OutputError, match="inputs"):
        run_of([path], out).do(resume=True)


def test_an_input_that_changes_below_a_run_ends_it(written: Write, tmp_path: Path) -> None:
    path, out = written(TEXTS), tmp_path / "out"
    run = run_of([path], out)
    interrupted(run.do, 0)
    facts = path.stat()
    path.write_bytes(path.read_bytes().replace(b"x and 44", b"y and 44"))
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    with pytest.raises(FascicleError, match="changed"):
        run.do(resume=True)
    assert not (out / SUCCESS).exists()


def test_what_cannot_be_read_is_quarantined_with_its_bytes(written: Write, tmp_path: Path) -> None:
    path, out = written(TEXTS[:3]), tmp_path / "out"
    with path.open("ab") as stream:
        stream.write(b'{"id": "broken\n')
    totals = run_of([path], out).do()
    assert (totals.documents, totals.done, totals.quarantined) == (4, 3, 1)
    (record,) = list_quarantined(str(out))
    assert (record.step, record.place, record.raw) == ("read", 4, b'{"id": "broken')
    assert record.input == str(path)


def test_what_the_format_cannot_hold_is_quarantined(written: Write, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    given = [Document(id="a", text="x"), Document(id="b\tc", text="x"), Document(id="d", text="x")]
    path.write_bytes(b"".join(codec.encode(one) + b"\n" for one in given))
    totals = run_of([path], tmp_path / "out", format="pubtator").do()
    assert (totals.done, totals.reasons) == (2, {"write: InputError": 1})
    assert list(
        current_quarantine(RunFolder(tmp_path / "out"), RunFolder(tmp_path / "out").manifest())
    ) == ["b\tc"]


@pytest.mark.parametrize(
    ("free", "apart", "workers"),
    [
        (None, False, 6),
        (100 << 30, False, 6),
        (3 << 30, False, 3),
        (100 << 20, False, 1),
        (100 << 30, True, 1),
    ],
)
def test_by_default_workers_fit_into_cores_and_free_memory_and_start_no_program_twice(
    monkeypatch: pytest.MonkeyPatch, free: int | None, apart: bool, workers: int
) -> None:
    monkeypatch.setattr(running, "usable_cores", lambda: 6)
    monkeypatch.setattr(running, "free_memory", lambda: free)
    assert default_workers(Limits(memory=1_024), apart=apart) == workers


_LLM = """plugin = "llm"
options = { address = "http://127.0.0.1:9/v1", model = "none", types = { X = "a letter" } }
"""


@pytest.mark.parametrize(
    ("step", "apart"),
    [
        ('kind = "abbreviations"\n', False),
        (f'kind = "plugin"\n{_LLM}', True),
        (f'kind = "plugin"\napart = false\n{_LLM}', True),
    ],
)
def test_a_pipeline_knows_of_steps_with_limits_or_programs_of_their_own(
    tmp_path: Path, step: str, apart: bool
) -> None:
    (tmp_path / "pipeline.toml").write_text(f"[[steps]]\n{step}", encoding="utf-8")
    with PipelineOpener(given=str(tmp_path))() as pipeline:
        assert pipeline.apart == apart


def test_progress_says_how_many_workers_there_are(
    written: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "default_workers", lambda limits, *, apart: 2)
    seen: list[RunProgress] = []
    path = written(TEXTS)
    run_of([path], tmp_path / "out", workers=None).do(progress=seen.append)
    assert {now.workers for now in seen} == {2}


@pytest.mark.parametrize("name", ["brat", "parquet"])
def test_a_part_is_one_file_of_a_format_of_several(
    written: Write, tmp_path: Path, name: str
) -> None:
    if name == "parquet":
        pytest.importorskip("pyarrow")
    path = written([f"x is {'b' if at else 'a'}" for at in range(12)])
    run_of([path], tmp_path / "lines").do()
    totals = run_of([path], tmp_path / "out", format=name, workers=None).do()
    assert (totals.documents, totals.done, totals.mentions) == (12, 12, {"finds/X": 12})
    run_of([path], tmp_path / "again", format=name).do()
    assert parts(tmp_path / "out") == parts(tmp_path / "again")
    files = expand_runs([str(tmp_path / "out")])
    assert {Path(file).suffix for file in files} == {".zip" if name == "brat" else ".parquet"}
    back = [document for file in files for document in read(file)]
    lines = [
        document
        for file in parts(tmp_path / "lines")
        for document in read(tmp_path / "lines" / file)
    ]
    assert [(d.id, d.text, [m.spans for m in d.mentions]) for d in back] == [
        (d.id, d.text, [m.spans for m in d.mentions]) for d in lines
    ]


def test_documents_of_many_files_share_shards_and_keep_their_ids_apart(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        for number in range(12):
            (tmp_path / folder / f"{number:02d}.txt").write_text(f"x {folder}", encoding="utf-8")
    paths = sorted((tmp_path / "a").iterdir()) + sorted((tmp_path / "b").iterdir())
    totals = run_of(paths, tmp_path / "out", workers=2).do()
    assert (totals.documents, totals.done, totals.shards) == (24, 24, 3)
    assert len(set(ids(tmp_path / "out"))) == 24


def test_ids_that_are_there_twice_in_a_file_and_in_others_are_those_of_one_reading(
    tmp_path: Path,
) -> None:
    texts = {"one": ["a", "a#2", "b"], "two": ["a", "a", "a", "b"], "three": ["a", "b#2", "b", "b"]}
    paths = []
    for name, given in texts.items():
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_bytes(
            b"".join(codec.encode(Document(id=one, text=f"x {name}")) + b"\n" for one in given)
        )
    totals = run_of(paths, tmp_path / "out", shards=Shards(documents=2)).do()
    inputs = [Input(name=str(path)) for path in paths]
    expected = [document for _, document in read_inputs(inputs, ReadRequest(), report=ReadReport())]
    done = [
        codec.decode(line)
        for content in parts(tmp_path / "out").values()
        for line in content.splitlines()
    ]
    assert totals.done == len(expected) == len({one.id for one in done}) == 11
    assert [(one.id, one.meta, one.events) for one in done] == [
        (one.id, one.meta, one.events) for one in expected
    ]


def test_a_folder_of_something_else_and_another_run_are_refused(
    written: Write, tmp_path: Path
) -> None:
    path, out = written(TEXTS[:3]), tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="something else"):
        run_of([path], out).do()
    (out / "thesis.txt").unlink()
    with RunFolder(out).place.held(), pytest.raises(OutputError, match="another run"):
        run_of([path], out).do()
    for folder, named in ((path, "is a file"), (tmp_path / "no" / "where", "does not exist")):
        with pytest.raises(OutputError, match=named):
            run_of([path], folder).do()
    before = sorted(out.iterdir())
    for name in ("plain", "medline", "knowtator"):
        with pytest.raises(UsageError, match=f"the format {name} cannot hold a part"):
            run_of([path], out, format=name).do()
        assert sorted(out.iterdir()) == before
    with pytest.raises(InputError, match="standard input"):
        run_of([Path("-")], out).do()


@pytest.mark.slow
@pytest.mark.parametrize("content", ["", "\n", '{"no": "document"}\n', None])
def test_a_run_without_a_document_leaves_nothing(tmp_path: Path, content: str | None) -> None:
    path, there = tmp_path / "in.jsonl", tmp_path / "there"
    path.mkdir() if content is None else path.write_text(content, encoding="utf-8")
    there.mkdir()
    for folder in (tmp_path / "new", there):
        with pytest.raises(InputError):
            run_of([path], folder).do()
    assert not (tmp_path / "new").exists()
    assert list(there.iterdir()) == []
    with pytest.raises(OutputError, match="is a file"):
        run_of([path], Path(__file__) / "new").do()


def test_workers_that_cannot_start_end_the_run(
    written: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASCICLE_TEST_PLANNER", str(os.getpid()))
    began = time.monotonic()
    with pytest.raises(FascicleError, match="exit:9"):
        run_of([written(TEXTS[:3])], tmp_path / "out", open_pipeline=open_never).do()
    assert time.monotonic() - began < 60


def test_workers_end_with_the_run(written: Write, tmp_path: Path) -> None:
    pids: list[int] = []

    def note(supervisor: Supervisor) -> Iterator[None]:
        kept.append(supervisor)
        return iter(())

    kept: list[Supervisor] = []
    run = run_of([written([*TEXTS, "!hang"])], tmp_path / "out", limits=LIMITS, workers=2)

    def progress(now: object) -> None:
        pids.extend(kept[0].pids)
        if now.documents >= 30:  # type: ignore[attr-defined]
            raise StopError

    with pytest.raises(StopError):
        run.do(progress=progress, started=note)  # type: ignore[arg-type]
    assert pids
    for pid in set(pids):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_options_of_reading_reach_the_workers(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(
        '{"key": "a", "body": "x", "set": "yes"}\n{"key": "b", "body": "x", "set": "no"}\n',
        encoding="utf-8",
    )
    reading = ReadRequest(
        format="records", fields=(("id", "key"), ("text", "body")), where=(("set", "yes"),)
    )
    totals = run_of([path], tmp_path / "out", reading=reading, format="predictions").do()
    assert (totals.documents, totals.done) == (1, 1)
    assert (
        run_of([path], tmp_path / "out", reading=reading, format="predictions").do(resume=True)
        == totals
    )


def marker(shard: int, mentions: dict[str, int], characters: int = 2_000_000) -> ShardMarker:
    facts = MarkerFile(name="part", size=0, sha256="")
    return ShardMarker(
        shard=f"{shard:05d}",
        documents=1,
        done=1,
        quarantined=0,
        characters=characters,
        part=facts,
        quarantine=None,
        mentions=mentions,
        names={},
        links={},
        losses={},
        slowest=(),
        seconds=1.0,
        attempt=1,
    )


def test_a_silent_shard_is_suspect_and_chance_is_not() -> None:
    counts = [100, 93, 110, 97, 104, 89, 101]
    usual = [marker(at, {"a/X": count, "a/Rare": at % 2}) for at, count in enumerate(counts)]
    assert suspects(usual) == []
    silent, loud = marker(7, {}), marker(8, {"a/X": 400})
    found = [(one.shard, one.type, one.mentions) for one in suspects([*usual, silent, loud])]
    assert found == [("00007", "a/X", 0), ("00008", "a/X", 400)]
    assert suspects([*usual, marker(7, {}, characters=500)]) == []  # too little text to expect any
    few = [marker(at, {"a/X": at % 7}, characters=40_000) for at in range(350)]
    assert suspects(few) == []
    few[103:180] = [marker(at, {}, characters=40_000) for at in range(103, 180)]
    found = [(one.shard, one.last, one.mentions) for one in suspects(few)]
    assert found == [("00100", "00149", 9), ("00150", "00199", 59)]
    assert suspects(few[:50]) == []  # one group has no usual rate
    assert suspects([silent, usual[0]]) == []


def test_a_part_that_was_changed_at_equal_size_is_done_again(
    written: Write, tmp_path: Path
) -> None:
    texts = [*TEXTS[:20], "!raise x", *TEXTS[21:]]
    path, out = written(texts), tmp_path / "out"
    run = run_of([path], out)
    totals = run.do()
    whole = parts(out)
    for name in ("part-00001.jsonl", "quarantine-00002.jsonl"):
        content = (out / name).read_bytes()
        (out / name).write_bytes(content[:-4] + content[-3:-1] + b" \n")
        assert (out / name).stat().st_size == len(content)
    again = run.do(resume=True)
    assert parts(out) == whole
    assert (again.documents, again.done, again.reasons) == (
        totals.documents,
        totals.done,
        totals.reasons,
    )
    (record,) = list_quarantined(str(out))
    assert record.id == "d20"
    assert (out / SUCCESS).exists()


def test_a_part_that_is_changed_below_a_run_is_not_vouched_for(
    written: Write, tmp_path: Path
) -> None:
    path, out = written(TEXTS), tmp_path / "out"
    changed = []

    def progress(now: object) -> None:
        part = out / "part-00000.jsonl"
        if not changed and (out / "done-00000.json").exists():
            changed.append(part.read_bytes())
            part.write_bytes(changed[0].replace(b'"X"', b'"Y"', 1))

    run_of([path], out).do(progress=progress)
    assert changed == [parts(out)["part-00000.jsonl"]]


def test_no_proof_stands_while_a_part_is_missing(written: Write, tmp_path: Path) -> None:
    path, out = written(TEXTS), tmp_path / "out"
    run = run_of([path], out)
    run.do()
    (out / "part-00003.jsonl").unlink()

    def progress(now: object) -> None:
        raise StopError

    with pytest.raises(StopError):
        run.do(resume=True, progress=progress)
    assert not (out / SUCCESS).exists()


def test_a_file_whose_name_is_not_unicode_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("x", encoding="utf-8")
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/b\xe9d.txt")
    Path(odd).write_text("x", encoding="utf-8")
    for folder, more in (("one", {}), ("two", {"update": True})):
        run = run_of([odd, tmp_path / "good.txt"], tmp_path / folder)
        totals = run.do(**more)
        assert (totals.done, totals.reasons) == (1, {"read: InputError": 1})
        assert run.do(**{"resume": True, **more}) == totals
    with pytest.raises(UsageError, match="not Unicode"):
        Run.of(
            [str(tmp_path / "good.txt")],
            PipelineOpener(given=_pipeline(Path(odd + "p"))),
            str(tmp_path / "three"),
        )


def _pipeline(folder: Path) -> str:
    folder.mkdir()
    (folder / "names.tsv").write_text("Chemical\taspirin\n", encoding="utf-8")
    (folder / "pipeline.toml").write_text(
        '[[steps]]\nkind = "recogniser"\nmodel = "names.tsv"\n', encoding="utf-8"
    )
    return str(folder)


def test_a_step_that_is_out_of_order_ends_a_run_of_small_shards(
    written: Write, tmp_path: Path
) -> None:
    with pytest.raises(FascicleError, match="100 documents in a row"):
        run_of([written(["!raise x"] * 120)], tmp_path / "out").do()


def test_progress_counts_documents_of_shards_that_are_on_their_way(
    written: Write, tmp_path: Path
) -> None:
    seen: list[tuple[int, int]] = []
    is_seen = tmp_path / "seen"

    def progress(now: RunProgress) -> None:
        seen.append((now.documents, now.characters))
        if now.documents:
            is_seen.touch()

    texts = [f"{'x' * 6_000} {number}" for number in range(40)]
    # the shard does not go on before the progress within it was seen
    texts[20] = f"!await {is_seen} {texts[20]}"
    run = run_of([written(texts)], tmp_path / "out", shards=Shards(), open_pipeline=open_batches)
    run.do(progress=progress)
    assert seen[-1][0] == 40
    assert seen == sorted(seen)
    assert {documents for documents, _ in seen} - {0, 25, 40}  # within a shard of 25
    for documents, characters in seen:
        assert characters == sum(map(len, texts[:documents]))
