"""Workers and what waits for them: nothing is lost, and the order of clients is kept."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from poison import open_poison
from standing import Poison

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.errors import FascicleError
from fascicle.pipeline.workers import WorkerEndedError, Working
from fascicle.serving import messages
from fascicle.serving.messages import Annotate, Answer, Answered, Options
from fascicle.serving.pool import ClosedError, FullError, Pool, Task, Worker
from fascicle.serving.records import PipelineFacts
from fascicle.serving.work import PipelineWork, open_work
from fascicle.serving.worker import LocalWorker, ProcessWorker


class Scripted(LocalWorker):
    """A worker that dies as documents say: ``die`` always, ``once`` the first time; ``wait``
    until it may go on.
    """

    is_spent = False

    def __init__(self, *, says_places: bool = True) -> None:
        self.orders: list[list[str]] = []
        self.options: list[Options] = []
        self.gate = threading.Event()
        self.starts = 0
        self.seen: set[str] = set()
        self.says_places = says_places

    def start(self) -> PipelineFacts:
        self.starts += 1
        return PipelineFacts(name="scripted", steps=())

    def do(self, order: messages.Order) -> messages.Result:
        assert isinstance(order, Annotate)
        texts = [codec.decode(bytes(one)).text for one in order.documents]
        self.orders.append(texts)
        self.options.append(order.options)
        if "wait" in texts:
            self.gate.wait(10)
        if "fault" in texts:
            raise ValueError("half a message")
        bad = [
            at
            for at, text in enumerate(texts)
            if "die" in text or ("once" in text and text not in self.seen)
        ]
        self.seen.update(texts)
        if bad:
            places = tuple(bad) if self.says_places else ()
            raise WorkerEndedError("exit:1", Working(step="step", places=places, characters=0))
        return Answered(answers=tuple(Answer(mentions=len(text)) for text in texts))

    def close(self) -> None:
        pass


def task(text: str, options: Options | None = None) -> Task:
    data = codec.encode(Document(id="a", text=text))
    return Task.annotate(data, options or Options(), characters=len(text))


def pool_of(worker: Worker, *, batch: int = 100, queue: int = 1_000) -> Pool:
    pool = Pool(lambda: worker, workers=1, batch=batch, queue=queue)
    pool.start()
    return pool


def answers(tasks: list[Task]) -> list[Answer]:
    return [one.future.result(30) for one in tasks]  # type: ignore[misc]


@settings(max_examples=30)
@given(
    st.lists(
        st.sampled_from(["a", "bb", "die", "once 1", "once 2", "die too", "x" * 60]),
        min_size=1,
        max_size=12,
    ),
    st.booleans(),
)
def test_each_document_has_its_answer(texts: list[str], says_places: bool) -> None:
    worker = Scripted(says_places=says_places)
    pool = pool_of(worker)
    tasks = [task(text) for text in texts]
    pool.submit(tasks)
    for text, answer in zip(texts, answers(tasks), strict=True):
        if "die" in text:
            assert answer.failure is not None
            assert (answer.failure.error, answer.failure.step) == ("exit:1", "step")
        else:
            assert (answer.failure, answer.mentions) == (None, len(text))
    pool.close()
    assert pool.waiting == 0
    assert pool.deaths == worker.starts - 1


def test_what_waits_shares_an_order_up_to_the_batch() -> None:
    worker = Scripted()
    pool = pool_of(worker, batch=10)
    first = task("wait")
    pool.submit([first])
    while not worker.orders:
        time.sleep(0.001)
    other = Options(threshold=0.5)
    tasks = [
        task("aaaa"),
        task("bbbb"),
        task("cccc"),
        task("dd", other),
        task("ee", other),
        task("f" * 50),
    ]
    pool.submit(tasks)
    worker.gate.set()
    answers([first, *tasks])
    assert worker.orders == [["wait"], ["aaaa", "bbbb"], ["cccc"], ["dd", "ee"], ["f" * 50]]
    assert worker.options[3] == other
    pool.close()


def test_a_full_queue_refuses_and_says_for_how_long() -> None:
    worker = Scripted()
    pool = pool_of(worker, queue=10)
    first = task("wait")
    pool.submit([first])
    while not worker.orders:
        time.sleep(0.001)
    large = task("x" * 500)  # nothing waits, so it may, however large it is
    pool.submit([large])
    with pytest.raises(FullError) as caught:
        pool.submit([task("a")])
    assert caught.value.seconds > 0
    held_back = task("b")
    pool.submit([held_back], waits=True)
    large.future.cancel()  # whoever asked went away, which makes room
    late = task("c")
    pool.submit([late])
    worker.gate.set()
    answers([first, held_back, late])
    assert "x" * 500 not in [text for order in worker.orders for text in order]
    pool.close()
    with pytest.raises(ClosedError):
        pool.submit([task("a")])


def test_a_document_that_kills_is_known_when_it_comes_again() -> None:
    worker = Scripted()
    pool = pool_of(worker)
    for _ in range(5):
        tasks = [task("die"), task("a"), task("die", Options(threshold=0.5))]
        pool.submit(tasks)
        assert [one.failure is None for one in answers(tasks)] == [False, True, False]
    assert pool.deaths == 5  # one in a batch and two alone, then two alone with other options
    pool.close()


def test_a_fault_of_ours_costs_its_batch_and_a_worker() -> None:
    worker = Scripted()
    pool = pool_of(worker)
    tasks = [task("wait"), task("fault"), task("a")]
    pool.submit(tasks[:1])
    while not worker.orders:
        time.sleep(0.001)
    pool.submit(tasks[1:2])
    worker.gate.set()
    wrong = tasks[1].future.result(30)
    assert isinstance(wrong, messages.Wrong)
    assert "half" in wrong.message
    pool.submit(tasks[2:])
    assert answers(tasks[2:])[0].mentions == 1
    assert (worker.starts, pool.ready) == (2, 1)
    pool.close()
    assert pool.waiting == 0


def test_closing_does_what_waits() -> None:
    worker = Scripted()
    pool = pool_of(worker)
    tasks = [task("wait"), *(task(f"{at}") for at in range(20))]
    pool.submit(tasks)
    threading.Timer(0.2, worker.gate.set).start()
    pool.close()
    assert all(one.future.done() for one in tasks)


class Breaks(Scripted):
    """A worker that starts once, and never again."""

    def start(self) -> PipelineFacts:
        if self.starts:
            raise WorkerEndedError("killed:memory")
        return super().start()


@pytest.mark.parametrize("is_awaited", [True, False])
def test_closing_does_not_wait_for_a_worker_that_cannot_start_again(is_awaited: bool) -> None:
    worker = Breaks()
    pool = pool_of(worker)
    first, second = task("die"), task("a")
    pool.submit([first])
    while not pool.deaths:
        time.sleep(0.001)
    pool.submit([second])
    if not is_awaited:
        second.future.cancel()
    closing = threading.Thread(target=pool.close, daemon=True)
    closing.start()
    closing.join(20)
    assert not closing.is_alive()
    assert first.future.done()
    assert second.future.done()


def test_a_pipeline_that_cannot_be_opened_is_an_error_at_once() -> None:
    class Never(Scripted):
        def start(self) -> PipelineFacts:
            raise FascicleError("no such pack")

    with pytest.raises(FascicleError, match="no such pack"):
        pool_of(Never())


@dataclass(frozen=True)
class Faulty:
    """Work whose every order ends with an error that holds the text; opening it does, if asked
    for.
    """

    secret: str
    opens: bool = True
    facts: PipelineFacts = field(default_factory=lambda: PipelineFacts(name="faulty", steps=()))

    def __call__(self) -> Faulty:
        if not self.opens:
            raise LookupError(self.secret)
        return self

    def do(self, order: messages.Order, **rest: object) -> messages.Result:
        raise LookupError(self.secret)


@pytest.mark.slow
@pytest.mark.parametrize("opens", [True, False])
def test_a_fault_of_a_worker_tells_its_kind_and_no_text(
    capfd: pytest.CaptureFixture[str], opens: bool
) -> None:
    worker = ProcessWorker(Faulty("private-text", opens), Poison().limits)
    with suppress(RuntimeError, FascicleError):
        worker.start()
        said = worker.do(Annotate(documents=(), options=Options()))
        assert isinstance(said, messages.Wrong)
    worker.close()
    told = capfd.readouterr().err
    assert "LookupError" in told
    assert "private-text" not in told


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing() -> None:
    worker = ProcessWorker(partial(open_work, Poison(seconds=0.02), "poison"), Poison().limits)
    pool = pool_of(worker, batch=50)
    tasks = [task(f"x {at}") for at in range(60)]
    pool.submit(tasks)
    until = time.monotonic() + 120
    for count in (1, 30):  # of answers, before each kill
        while sum(one.future.done() for one in tasks) < count:
            assert time.monotonic() < until
            time.sleep(0.005)
        with suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGKILL) if worker.pid else None
    done = wait([one.future for one in tasks], timeout=60)
    assert not done.not_done
    assert [answer.mentions for answer in answers(tasks)] == [1] * 60
    pool.close()
    assert 1 <= pool.deaths <= 2


def test_a_pipeline_in_this_process_answers_the_same() -> None:
    pool = pool_of(LocalWorker(PipelineWork(open_poison(), "poison")))
    tasks = [task("x"), task("!raise"), task("xx")]
    pool.submit(tasks)
    assert [one.mentions for one in answers(tasks)] == [1, 0, 2]
    assert answers(tasks)[1].failure is not None
    pool.close()
