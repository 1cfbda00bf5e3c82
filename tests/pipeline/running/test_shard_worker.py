"""What a kill costs within a shard: few documents, and no byte of its part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from poison import LIMITS, Finds, run_of

from fascicle.core.document import Document, Patch
from fascicle.pipeline import pipeline
from fascicle.pipeline.pipeline import Pipeline
from fascicle.pipeline.running import plan
from fascicle.pipeline.running.folder import SAVED
from fascicle.pipeline.running.places import LocalPlace
from fascicle.pipeline.running.records import Shard, ShardMarker
from fascicle.pipeline.running.shard_worker import OpenWorker
from fascicle.settings.pipeline import Limits, Shards

Write = Callable[[Sequence[str]], Path]
COUNT = 300


class KillError(BaseException):
    """In the place of a kill."""


class Counted(Finds):
    """Notes what it is given, and is killed when that is enough."""

    def __init__(self, seen: Counter[str], most: int) -> None:
        super().__init__()
        self.seen, self.most = seen, most

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        self.seen.update(document.id for document in documents)
        if self.seen.total() >= self.most:
            raise KillError
        return super().run(documents)


class Here:
    """Does shards in this process."""

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
            yield worker.process(shard)


@pytest.fixture
def run(written: Write, monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """A run of one shard, as a large run has it."""
    monkeypatch.setattr(plan, "_LEAST", COUNT)
    monkeypatch.setattr(LocalPlace, "pause", 0.0)
    monkeypatch.setattr(pipeline, "DOCUMENTS", 64)
    path = written([f"x {number}" for number in range(COUNT)])

    def run(out: Path, most: int = 10**9, **changes: object) -> Counter[str]:
        seen: Counter[str] = Counter()
        opened = partial(Pipeline, [Counted(seen, most)], limits=LIMITS)
        made = run_of([path], out, pool=Here, shards=Shards(), open_pipeline=opened, **changes)
        try:
            made.do(resume=True)
        except KillError:
            assert not (out / "_SUCCESS").exists()
        else:
            assert made.folder.manifest().shards[0].count == COUNT
        return seen

    return run


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("part-*"))}


@pytest.mark.parametrize("format", ["jsonl", "pubtator"])
def test_a_kill_costs_few_documents_and_no_byte(
    run: Callable[..., Counter[str]],
    tmp_path: Path,
    format: str,  # noqa: A002
) -> None:
    calm = run(tmp_path / "calm", format=format)
    out, total = tmp_path / "out", Counter[str]()
    for _ in range(3):
        total += run(out, 100, format=format)
    assert list(out.glob(f"{SAVED}*"))
    total += run(out, format=format)
    assert parts(out) == parts(tmp_path / "calm")
    assert total.keys() == calm.keys()
    repeated = total.total() - calm.total()
    assert 0 < repeated <= 3 * 100
    assert not list(out.glob(f"{SAVED}*"))


def test_what_is_damaged_of_another_pipeline_or_another_shard_does_not_count(
    run: Callable[..., Counter[str]], tmp_path: Path
) -> None:
    calm, out = run(tmp_path / "calm"), tmp_path / "out"
    run(out, 250)
    first, *others = sorted(out.glob(f"{SAVED}*"))
    assert others
    content = first.read_bytes()
    first.write_bytes(content.replace(b'"X"', b'"Y"', 1))  # as long as before
    assert run(out) == calm
    assert parts(out)["part-00000.jsonl"] == parts(tmp_path / "calm")["part-00000.jsonl"]
    assert not list(out.glob(f"{SAVED}*"))


def test_first_shards_are_small_and_later_ones_a_share_of_those_before(
    written: Write, tmp_path: Path
) -> None:
    path = written(["x" * 1_400] * 6_000)
    reading, most = run_of([path], tmp_path / "out").reading, Shards(documents=80)
    shards, _ = plan.plan([str(path)], reading, most)
    counts = [shard.count for shard in shards]
    assert sum(counts) == 6_000
    before = 0
    for count in counts[:-1]:
        assert count == min(80, max(25, before // 64))
        before += count
    assert plan.plan([str(path)], reading, most)[0] == shards


def test_short_documents_share_a_shard_until_it_has_text_enough(
    written: Write, tmp_path: Path
) -> None:
    path = written(["x" * 200] * 1_000)
    shards, _ = plan.plan([str(path)], run_of([path], tmp_path / "out").reading, Shards())
    assert [shard.count for shard in shards] == [164, 164, 164, 164, 164, 164, 16]
