"""What runs in a worker process of the service: it takes orders, and says what it is at."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection

from fascicle.core.document import Document
from fascicle.errors import FascicleError
from fascicle.running.child import settle
from fascicle.running.faults import tell_fault
from fascicle.running.memory import limit_own
from fascicle.serving import messages
from fascicle.serving.messages import Annotate, Failed, Ready, Working, Wrong
from fascicle.serving.work import OpenWork, Work

Say = Callable[[messages.Said], None]


def serve(pipe: Connection, open_work: OpenWork, memory: int, parent: int) -> None:
    """Does what it is told until the pipe is closed.

    Args:
        pipe: of orders, and of what is said.
        open_work: opens the pipeline, or what else does orders.
        memory: MiB of its own that the system lets it take.
        parent: process that it must not outlive.
    """
    settle(parent)
    os.environ.setdefault("RAYON_NUM_THREADS", "1")  # of tokenizers; the other cores are for the other workers
    limit_own(memory)

    def say(message: messages.Said) -> None:
        pipe.send_bytes(messages.encode(message))

    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            work = open_work()
            facts = work.facts
            gc.collect()
            gc.freeze()  # what is loaded stays: nothing needs to look through it again and again
            say(Ready(facts=facts))
            while True:
                _obey(work, messages.orders.decode(pipe.recv_bytes()), say)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise
        except (FascicleError, OSError) as error:
            say(Failed(message=str(error)))
        except Exception as error:
            tell_fault(error)
            say(Failed(message=f"{type(error).__name__}: {error}", internal=True))


def _obey(work: Work, order: messages.Order, say: Say) -> None:
    """Does one order."""
    count = len(order.documents) if isinstance(order, Annotate) else 1
    places: dict[int, int] = {}

    def watch(step: str, documents: Sequence[Document]) -> None:
        now = [places[id(one.text)] for one in documents]
        say(Working(step=step, places=tuple(now), characters=sum(len(one.text) for one in documents)))

    def given(documents: Sequence[Document]) -> None:
        # A text stays the same object, whatever steps add to its document; ids may be there twice.
        places.update((id(one.text), at) for at, one in enumerate(documents))

    say(Working(step="", places=tuple(range(count)), characters=0))
    try:
        said: messages.Said = work.do(order, watch=watch, given=given)
    except Exception as error:  # a fault, which costs this order
        tell_fault(error)
        said = Wrong(error=type(error).__name__, message=str(error))
    say(said)
