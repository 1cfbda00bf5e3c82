"""Kills the service of a project at random moments while its curators decide; what was answered
with 200 must be there.

usage: python -m studies.speed.killed_project [--kills 100] [--seed 1] [--pause 4] [--minutes 60]

Each document is assigned to two of three curators, who accept, reject, retype, move and add
mentions, take steps back, remark and finish; a reviewer decides about what two have finished. The
service is killed with its process group (SIGKILL): four times of five after it is ready, else while
it starts. After every kill the rows of the file are compared with what was sent: *lost* is a step
that was answered and is not there, *doubled* one that is there more often than it was sent, *moved*
one that is about another document, version or mention. At the end what the service exports of each
version is compared with the decisions as their curator knows them. Runs with other seeds stay in
the results.
"""

from __future__ import annotations

import argparse
import json
import random
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import fascicle
from fascicle.serving.client.calls import Call, ServiceError
from fascicle.serving.client.clients import ClientSettings
from fascicle.serving.tokens import add_token
from fascicle.settings.serving import Project
from studies.common import result, write_result
from studies.speed.killed_service import (
    _LEAST_PAUSE,
    _errors,
    _free_port,
    _is_ready,
    _kill,
    _started_with,
)

PROJECT: Final = Project(curators=("Ada", "Ben", "Cy"), per_document=2)
REVIEWER: Final = "Rea"
AHEAD: Final = 20  # documents that are there before anybody has finished them
WORDS: Final = [f"word{number:02}" for number in range(12)]
TEXT: Final = " ".join(WORDS)
WRONG: Final = (
    "lost",
    "doubled",
    "moved",
    "exports_wrong",
    "refused",
    "errors",
    "orphans",
    "damages",
)
_SETTINGS: Final = ClientSettings(attempts=1, seconds=60)
_State = dict[str, dict[str, Any] | None]  # item -> what it is; ``None`` if it is nothing


def main() -> None:
    """Measures and writes ``results/killed-project.json``; ends with an error if anything is
    lost or wrong.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=4.0, help="seconds at most until a kill")
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="after which no further kill begins"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = disturb(
            Path(folder), kills=args.kills, seed=args.seed, pause=args.pause, minutes=args.minutes
        )
    before = [one for one in result("killed-project").get("runs", []) if one["seed"] != args.seed]
    write_result(
        "killed-project", {"runs": [*before, {"seed": args.seed, "pause": args.pause, **found}]}
    )
    sys.stdout.write(f"{json.dumps(found, indent=1)}\n")
    if any(found[name] for name in WRONG):
        sys.exit("something was lost")


def disturb(
    place: Path, *, kills: int, seed: int, pause: float, minutes: float = 60.0
) -> dict[str, int]:
    """Kills a service so often, and counts what became of the decisions; see the module.

    Args:
        place: an empty folder.
        kills: of the service.
        seed: of the moments.
        pause: seconds at most until a kill.
        minutes: after which no further kill begins.
    """
    (place / "names.tsv").write_text(f"Gene\t{WORDS[0]}\n", encoding="utf-8")
    settings = f"curators = {json.dumps(PROJECT.curators)}\nper_document = {PROJECT.per_document}\n"
    (place / "project.toml").write_text(settings, encoding="utf-8")
    tokens = {name: add_token(place / "tokens.json", name) for name in PROJECT.curators}
    tokens[REVIEWER] = add_token(place / "tokens.json", REVIEWER, "reviewer")
    team = Team(_free_port(), tokens)
    draw = random.Random(seed)
    orphans = ready = done = 0
    until = time.monotonic() + 60 * minutes
    wrong: dict[str, set[str]] = {"lost": set(), "doubled": set(), "moved": set()}
    with team.running() as workers:
        while done < kills and time.monotonic() < until:
            with _served(place, team.port) as process:
                waits = draw.random() < 0.8
                while waits and not _is_ready(team.port):
                    if process.poll() is not None:
                        raise SystemExit("the service ended by itself")
                    time.sleep(0.1)
                time.sleep(draw.uniform(_LEAST_PAUSE, pause))
                ready += _is_ready(team.port)
                orphans += _kill(process)
                done += 1
            team.compare(place / "decisions.sqlite", wrong)
        with _served(place, team.port) as process:
            team.stop.set()
            for one in workers:
                one.result(300)
            exports_wrong = sum(team.exported_wrong(name) for name in (*PROJECT.curators, ""))
            process.terminate()
            process.wait(60)
        team.compare(place / "decisions.sqlite", wrong)
    verify = [
        sys.executable,
        "-m",
        "fascicle",
        "curation",
        "verify",
        str(place / "decisions.sqlite"),
    ]
    damages = subprocess.run(verify, check=False, capture_output=True).returncode
    counts = {name: len(of) for name, of in wrong.items()}
    told = {
        "documents": len(team.finished),
        "answered": len(team.answered),
        "sent": len(team.sent),
        **team.kinds,
    }
    more = {
        "exports_wrong": exports_wrong,
        "refused": team.refused,
        "errors": _errors(place),
        "damages": damages,
    }
    return {"kills": done, "kills_when_ready": ready, **told, **counts, **more, "orphans": orphans}


@contextmanager
def _served(place: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    command = [
        "names.tsv",
        "--no-link",
        "--no-page",
        "--port",
        str(port),
        "--curation",
        "decisions.sqlite",
    ]
    with _started_with(
        place, [*command, "--tokens", "tokens.json", "--project", "project.toml"]
    ) as process:
        yield process


@dataclass
class Team:
    """Curators and a reviewer of a project, and what each of them knows.

    Attributes:
        port: of the service.
        tokens: of each.
        stop: ends them, each after what it is at.
        sent: id -> document, curator, version, and the content of a step, from before it is sent.
        answered: ids of steps that were answered, with their numbers.
        states: version -> document -> item -> what it is.
        finished: document -> curators who have finished it.
        added: how many documents there are.
        refused: how often an answer was not as it should be.
    """

    port: int
    tokens: dict[str, str]
    stop: threading.Event = field(default_factory=threading.Event)
    sent: dict[str, tuple[str, str, str, dict[str, Any]]] = field(default_factory=dict)
    answered: dict[str, int] = field(default_factory=dict)
    states: dict[str, dict[str, _State]] = field(default_factory=dict)
    finished: dict[str, set[str]] = field(default_factory=dict)
    added: int = 0
    refused: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def kinds(self) -> dict[str, int]:
        """How many steps of which kind were answered."""
        found: Counter[str] = Counter()
        for mark in self.answered:
            _, _, version, content = self.sent[mark]
            found["review" if not version else next(iter(content))] += 1
        return {f"steps_{name}": count for name, count in sorted(found.items())}

    @contextmanager
    def running(self) -> Iterator[list[Any]]:
        """Everybody at work, until ``stop`` is set."""
        with ThreadPoolExecutor(len(self.tokens)) as threads:
            try:
                yield [threads.submit(self._work, name) for name in self.tokens]
            finally:
                self.stop.set()

    def _work(self, who: str) -> None:
        draw = random.Random(who)
        with fascicle.Client(
            f"http://127.0.0.1:{self.port}", token=self.tokens[who], settings=_SETTINGS
        ) as client:
            number = 0
            while not self.stop.is_set():
                name = f"text-{number}"
                if who == REVIEWER and self.added < number + AHEAD:
                    self._insist(
                        client,
                        "documents",
                        {"documents": [_document(f"text-{self.added}")], "who": who},
                    )
                    self.added += 1
                elif number >= self.added or (
                    who == REVIEWER and not self._review(client, name, draw)
                ):
                    time.sleep(0.2)
                else:
                    if who in PROJECT.assigned(name):
                        self._curate(client, who, name, draw)
                    number += 1

    def _curate(self, client: fascicle.Client, who: str, name: str, draw: random.Random) -> None:
        """Decides about all mentions of a document, adds some, takes steps back, and finishes
        it.
        """
        state = self.states.setdefault(who, {}).setdefault(name, {})
        after = 0
        for at in range(len(WORDS)):
            here = _mention(at, "Gene")
            item = _item("m", "Gene", here["spans"]) if at % 3 else f"added-{who}-{at}"
            now = draw.choice(
                [
                    here,
                    _mention(at, "Disease"),
                    _mention(at, "Gene", shorter=True),
                    None if at % 3 else here,
                ]
            )
            after = self._step(client, who, name, after=after, edits=[{"item": item, "after": now}])
            before = state.get(item)
            state[item] = now
            if draw.random() < 0.15:
                after = self._step(client, who, name, after=after, undoes=after)
                state[item] = before
            if draw.random() < 0.15:
                after = self._step(client, who, name, after=after, remark={"note": f"about {at}"})
        self._step(client, who, name, after=after, finished=True)
        with self.lock:
            self.finished.setdefault(name, set()).add(who)

    def _review(self, client: fascicle.Client, name: str, draw: random.Random) -> bool:
        """Decides about all that two curators have of a document; returns whether they had
        finished it.
        """
        if len(self.finished.get(name, ())) < PROJECT.per_document:
            return False
        found = json.loads(
            self._call(client, Call(method="GET", path="/v1/curation/review", params={"id": name}))
        )
        expected = {
            _place(one)
            for who in PROJECT.assigned(name)
            for one in self.states[who][name].values()
            if one
        }
        if {_place(one) for one in found["document"].get("mentions", [])} != expected:
            with self.lock:
                self.refused += 1
        state = self.states.setdefault("", {}).setdefault(name, {})
        after = 0
        for one in found["document"].get("mentions", []):
            item = _item("gold", one["type"], one["spans"])
            now = draw.choice([{"spans": one["spans"], "type": one["type"]}, None])
            after = self._step(
                client,
                REVIEWER,
                name,
                version="",
                after=after,
                edits=[{"item": item, "after": now}],
            )
            state[item] = now
        return True

    def _step(
        self, client: fascicle.Client, who: str, name: str, *, after: int, **content: Any
    ) -> int:
        """Sends a step until it is answered; returns its number."""
        mark = secrets.token_hex(16)
        version = content.pop("version", who)
        self.sent[mark] = (name, who, version, content)
        body = {
            "document": name,
            "id": mark,
            "who": who,
            "after": after,
            "version": version,
            **content,
        }
        (saved,) = self._insist(client, "steps", body)["steps"]
        self.answered[mark] = saved["number"]
        return int(saved["number"])

    def _insist(self, client: fascicle.Client, what: str, body: dict[str, Any]) -> Any:
        content = json.dumps(body).encode()
        return json.loads(
            self._call(client, Call(method="POST", path=f"/v1/curation/{what}", content=content))
        )

    def _call(self, client: fascicle.Client, call: Call) -> bytes:
        """Asks until there is an answer."""
        while True:
            try:
                return client.call(call)
            except ServiceError as error:
                if error.status:
                    with self.lock:
                        self.refused += 1
                    raise
                time.sleep(0.1)

    def compare(self, path: Path, wrong: dict[str, set[str]]) -> None:
        """Compares the rows of a file with what was sent, and adds the ids of those that are
        wrong.
        """
        answered = dict(list(self.answered.items()))
        if not path.exists() or not answered:
            return
        query = (
            "SELECT s.id, s.number, d.id, s.who, s.content FROM steps s JOIN documents d ON "
            "d.place = s.document"
        )
        with closing(sqlite3.connect(path, timeout=60)) as connection:
            rows = connection.execute(query).fetchall()
        wrong["lost"] |= answered.keys() - {row[0] for row in rows}
        counts = Counter(row[0] for row in rows)
        wrong["doubled"] |= {
            mark for mark, count in counts.items() if count > 1 or mark not in self.sent
        }
        for mark, number, name, who, text in rows:
            content = json.loads(text)
            is_sent = self.sent.get(mark) == (name, who, content.pop("version", None), content)
            if not is_sent or answered.get(mark, number) != number:
                wrong["moved"].add(mark)

    def exported_wrong(self, version: str) -> int:
        """How many documents of a version the service exports otherwise than its curator
        decided.
        """
        with fascicle.Client(
            f"http://127.0.0.1:{self.port}", token=self.tokens[REVIEWER], settings=_SETTINGS
        ) as client:
            lines = client.call(
                Call(method="GET", path="/v1/curation/export", params={"version": version})
            ).splitlines()
        found = {
            one["id"]: sorted(map(_place, one.get("mentions", [])))
            for one in map(json.loads, lines)
        }
        known = self.states.get(version, {}).items()
        return sum(
            found.get(name) != sorted({_place(one) for one in state.values() if one})
            for name, state in known
        )


def _document(name: str) -> dict[str, Any]:
    some = [
        {**_mention(at, "Gene"), "source": "m", "score": 0.5} for at in range(len(WORDS)) if at % 3
    ]
    return {"id": name, "text": TEXT, "mentions": some}


def _mention(at: int, type_: str, *, shorter: bool = False) -> dict[str, Any]:
    begin = TEXT.index(WORDS[at])
    return {"spans": [[begin, begin + len(WORDS[at]) - 2 * shorter]], "type": type_}


def _item(*parts: Any) -> str:
    """The name of a mention as the service spells it, whoever sends it."""
    return json.dumps(parts, separators=(",", ":"))


def _place(mention: dict[str, Any]) -> str:
    return json.dumps([mention["type"], mention["spans"]])


if __name__ == "__main__":
    main()
