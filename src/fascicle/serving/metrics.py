"""Metrics of the service in the text format of Prometheus.

See https://prometheus.io/docs/instrumenting/exposition_formats/.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, Final

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # seconds
_ESCAPED: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Labels = tuple[tuple[str, str], ...]
Gauges = Iterable[tuple[str, str, Mapping[Labels, float]]]


class Metrics:
    """Counts of requests and documents; safe for several threads."""

    def __init__(self) -> None:
        """Creates metrics with all counts at zero."""
        self._lock = threading.Lock()
        self._requests: Counter[Labels] = Counter()
        self._documents: Counter[Labels] = Counter()
        self._characters = 0
        self._buckets: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()

    def see(self, told: Mapping[str, Any]) -> None:
        """Counts a request.

        Args:
            told: facts that `fascicle.serving.guard.Guard` logs.
        """
        route = told["route"] or "none"
        seconds = told["ms"] / 1000
        with self._lock:
            self._requests[(("route", route), ("status", str(told["status"])))] += 1
            for status, count in told.get("documents", {}).items():
                self._documents[(("status", status),)] += count
            self._characters += told.get("characters", 0)
            buckets = self._buckets.setdefault(route, [0] * (len(_BOUNDS) + 1))
            buckets[bisect_left(_BOUNDS, seconds)] += 1
            self._seconds[route] += seconds

    def text(self, gauges: Gauges) -> str:
        """Returns all metrics as text.

        Args:
            gauges: further ones: name, what it means, and the values by labels. A name that ends with ``_total`` is
                that of a counter.
        """
        with self._lock:
            counters: Gauges = (
                ("fascicle_requests_total", "requests that were answered", self._requests),
                ("fascicle_documents_total", "documents that were answered", self._documents),
                ("fascicle_characters_total", "characters of text of annotated documents", {(): self._characters}),
                *gauges,
            )
            lines = [line for one in counters for line in _lines(*one)]
            return "\n".join([*lines, *self._histogram(), ""])

    def _histogram(self) -> Iterator[str]:
        name = "fascicle_request_seconds"
        yield f"# HELP {name} time from a request to the end of its answer"
        yield f"# TYPE {name} histogram"
        for route, buckets in sorted(self._buckets.items()):
            for bound, count in zip((*_BOUNDS, "+Inf"), accumulate(buckets), strict=True):
                yield f"{name}_bucket{_shown((('route', route), ('le', str(bound))))} {count}"
            yield f"{name}_sum{_shown((('route', route),))} {self._seconds[route]:.6f}"
            yield f"{name}_count{_shown((('route', route),))} {sum(buckets)}"


def _lines(name: str, means: str, values: Mapping[Labels, float]) -> Iterator[str]:
    yield f"# HELP {name} {means}"
    yield f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}"
    for labels, value in sorted(values.items()):
        yield f"{name}{_shown(labels)} {value}"


def _shown(labels: Labels) -> str:
    pairs = [f'{name}="{value.translate(_ESCAPED)}"' for name, value in labels]
    return f"{{{','.join(pairs)}}}" if labels else ""
