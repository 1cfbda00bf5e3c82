"""Settings of a service: its limits, its access rules, and the project that its curators work
on.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import Meta

from fascicle.errors import UsageError
from fascicle.settings.base import Natural, Settings, refuse_duplicates
from fascicle.settings.recipes.strict import convert_values, read_toml

Curator = Annotated[
    str, Meta(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+(?![\s\S])")
]


class Project(Settings, frozen=True, kw_only=True):
    """A project of several curators; each has a version of every document that is assigned to them.

    Attributes:
        name: shown to curators.
        guidelines: type -> text that is shown beside mentions of it; that of an empty type is shown
            beside all.
        curators: names of their tokens.
        per_document: how many curators have each document; 0 for all of them.
        private: whether a curator sees what others decided about a document only when their own
            version is finished, which they cannot change from then on.
    """

    name: str = ""
    guidelines: dict[str, str] = msgspec.field(default_factory=dict)
    curators: Annotated[tuple[Curator, ...], Meta(min_length=1)]
    per_document: Natural = 0
    private: bool = True

    def __post_init__(self) -> None:
        """Checks the curators.

        Raises:
            ValueError: one is named twice, or there are fewer than a document needs.
        """
        refuse_duplicates(self.curators, "curators")
        if self.per_document > len(self.curators):
            raise ValueError(
                f"per_document = {self.per_document}, and there are only {len(self.curators)} "
                "curators: name more, or give 0 for all"
            )

    def assigned(self, document: str) -> tuple[str, ...]:
        """Returns who has a document, in the order of `curators`.

        Each curator has a rank by the hash of the id with their name, so that a curator who joins
        or leaves changes as few assignments as can be.

        Args:
            document: its id.
        """
        if not self.per_document:
            return self.curators
        ranked = sorted(
            self.curators, key=lambda name: hashlib.sha256(f"{document}\0{name}".encode()).digest()
        )
        return tuple(sorted(ranked[: self.per_document], key=self.curators.index))


def read_project(path: str | os.PathLike[str]) -> Project:
    """Reads the settings of a project.

    Args:
        path: of a TOML file.

    Raises:
        RecipeError: no such file, not TOML, an unknown key, a wrong type, a value that is not
            allowed.
    """
    place = Path(path).expanduser()
    return convert_values(read_toml(place, what="project"), Project, origin=str(place))


LOCAL: Final = ("localhost", "127.0.0.1", "::1")  # host names of the local machine
_LEAST_TOKEN: Final = 16  # least number of characters
Role = Literal["curator", "reviewer", "administrator"]  # each may do what the one before may


class NamedToken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Token of one person or program.

    Attributes:
        name: whose it is; empty for anybody.
        role: what it allows.
        hash: of the token (SHA-256), in hexadecimal digits.
        made: when, in UTC.
    """

    name: str = ""
    role: Role = "curator"
    hash: str = ""
    made: str = ""

    def may(self, role: Role) -> bool:
        """Returns whether it allows what a role does."""
        roles = get_args(Role)
        return roles.index(self.role) >= roles.index(role)


ANYBODY: Final = NamedToken(role="administrator")  # who has the token without a name, or needs none


def hash_token(token: str) -> str:
    """Returns the hash under which a token is kept; it has too many random bits to be guessed
    from it.
    """
    return hashlib.sha256(token.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """A service.

    Attributes:
        workers: processes of each pipeline.
        body: bytes of a request at most.
        text: characters of a document at most.
        documents: of a request at most.
        batch: characters of text that a worker takes at once, unless one document is longer.
        queue: characters of text that may wait for the workers of a pipeline; what would be more is
            refused.
        requests: greatest number of requests that are answered at a time.
        seconds: the seconds that a request has; documents that are not done by then are answered as
            timed out.
        idle: seconds without a byte from a client, or to it, after which a connection is given up.
        connections: at a time at most, and no more than the descriptors of the process allow. Where
            there are more, one on which no request is running gives way.
        of_address: connections of one address at most; 0 for half of all.
        headers: seconds that a client has for the headers of a request.
        jobs: files that may wait or run at a time; as many of each token that have ended are kept.
        job: bytes of a file at most.
        jobs_folder: where jobs are kept, so that the next service goes on with them; by default
            they end with this one.
        token: the token that clients send; empty for none.
        tokens: of persons and programs, which they may show instead; ``None`` if there are none of
            this kind, and empty if all are withdrawn.
        rate: requests in a minute with one token; 0 for any number. Files of the page do not count.
        origins: further origins of pages that may use the service in a browser, such as
            ``"https://lab.example"``.
        hosts: names of the service, as clients write them; empty for any. By default any with a
            token, and without one those of this machine, so that no page elsewhere can reach the
            service by a name of its own.
        curation: path of the file that keeps decisions of curators; empty for none.
        project: of several curators, which needs such a file and named tokens; ``None`` for
            decisions that are shared.
        page: whether the page is there.
        open_page: whether the files of the page are there without the token.
    """

    workers: int = 1
    body: int = 16 << 20
    text: int = 1_000_000
    documents: int = 1_000
    batch: int = 16_384
    queue: int = 262_144
    requests: int = 256
    seconds: float = 120.0
    idle: float = 30.0
    connections: int = 4_096
    of_address: int = 0
    headers: float = 15.0
    jobs: int = 8
    job: int = 1 << 30
    jobs_folder: str = ""
    token: str = field(default="", repr=False)
    tokens: tuple[NamedToken, ...] | None = field(default=None, repr=False)
    rate: int = 0
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] | None = None
    curation: str = ""
    project: Project | None = None
    page: bool = True
    open_page: bool = False

    def __post_init__(self) -> None:
        """Checks the settings of the service.

        Raises:
            UsageError: a limit that is not positive, or a token that is too short or holds other
                characters than those of a header.
        """
        for name, value in (
            (setting.name, getattr(self, setting.name)) for setting in fields(self)
        ):
            if name not in ("of_address", "rate") and type(value) in (int, float) and not value > 0:
                raise UsageError(f"{name}={value} is not allowed; give a positive number")
        if self.token and (
            len(self.token) < _LEAST_TOKEN
            or not self.token.isascii()
            or not self.token.isprintable()
        ):
            raise UsageError(
                f"a token has at least {_LEAST_TOKEN} printable characters of ASCII; make one, for "
                "example with openssl rand -hex 32"
            )

    @property
    def guarded(self) -> bool:
        """True if clients must show a token."""
        return bool(self.token) or self.tokens is not None

    @property
    def names(self) -> tuple[str, ...]:
        """Host names of the service; empty for any."""
        if self.hosts is None:
            return () if self.guarded else LOCAL
        return self.hosts
