"""How a network is given many windows: batches of similar length, and several at once where it allows that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fascicle.runtime.batching import MAX_TOKENS, TOKENS_A_THREAD, length_sorted_batches
from fascicle.runtime.session import OnnxSession

_ROUNDS = 2  # so many batches for each thread, so that none waits long for the last one
T = TypeVar("T")


def scored_batches(
    scorer: Any, lengths: Sequence[int], *, score: Callable[[NDArray[np.intp]], T]
) -> Iterator[tuple[NDArray[np.intp], T]]:
    """Scores items in batches.

    A session of ONNX Runtime with several threads runs as many batches at once, each on one thread, if there are
    enough of them: threads that share each operator of one batch wait for each other. Else it runs one after the other,
    each on all threads, as any other network does.

    Args:
        scorer: the network.
        lengths: pieces of each item.
        score: of the items at these places, by the network; called from several threads.

    Yields:
        Places of items, by rising length, and what ``score`` says of them.
    """
    if isinstance(scorer, OnnxSession) and scorer.threads > 1:
        small = list(length_sorted_batches(lengths, max_tokens=TOKENS_A_THREAD))
        if len(small) >= _ROUNDS * scorer.threads and scorer.run_side_by_side():
            with ThreadPoolExecutor(scorer.threads) as pool:
                yield from zip(small, pool.map(score, small), strict=True)
            return
    for chosen in length_sorted_batches(lengths, max_tokens=getattr(scorer, "batch_tokens", MAX_TOKENS)):
        yield chosen, score(chosen)
