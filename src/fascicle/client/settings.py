"""How clients ask."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ClientSettings:
    """How often and how patiently a client asks.

    Attributes:
        attempts: of a request, the first one among them; with pauses between them, eight take about half a minute.
        seconds: for an answer.
        ahead: portions of documents that are on their way at a time.
    """

    attempts: int = 8
    seconds: float = 180.0
    ahead: int = 4
