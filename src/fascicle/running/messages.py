"""What a run and its workers say to each other: JSON in both directions, and no pickles."""

from __future__ import annotations

import msgspec

from fascicle.pipeline.runner import Failure
from fascicle.running.records import Done


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A shard to be done; see `fascicle.running.shard_worker.ShardWorker.process`."""

    shard: str
    attempt: int
    alone: tuple[int, ...] = ()
    killed: tuple[tuple[int, Failure], ...] = ()


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    """The worker has loaded the pipeline."""


class Working(msgspec.Struct, frozen=True, kw_only=True, tag="working"):
    """The worker is about to take documents through a step; none, when it reads or writes.

    Attributes:
        step: name.
        places: of the documents in the shard.
        characters: of their texts.
        through: documents of the shard that are done or failed, ...
        characters_through: ... and the characters of their texts.
    """

    step: str
    places: tuple[int, ...]
    characters: int
    through: int = 0
    characters_through: int = 0


class Finished(msgspec.Struct, frozen=True, kw_only=True, tag="finished"):
    """A shard is done."""

    done: Done


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """The worker cannot go on, and no document is at fault.

    Attributes:
        message: for people.
        internal: whether it is a fault of Fascicle.
    """

    message: str
    internal: bool = False


Said = Ready | Working | Finished | Failed
encode = msgspec.json.encode
said = msgspec.json.Decoder(Said)
order = msgspec.json.Decoder(Order)
