"""``fascicle index fetch`` on a server of this machine: parts, changes, limits, redirects; no
publisher is asked.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import fascicle
from fascicle.cli import main
from fascicle.errors import FascicleError, FormatError, InputError, OutputError, UsageError
from fascicle.settings.packs import read_pack_settings
from fascicle.terms.sources.reading import READERS
from fascicle.verbs.tasks import index_fetch
from fascicle.verbs.tasks.index_build import build_pack
from fascicle.verbs.tasks.index_fetch import FetchLimits, fetch, source_table, vocabularies

pytestmark = pytest.mark.loopback
OBO = "format-version: 1.4\n\n" + "".join(
    f"[Term]\nid: DOID:{number}\nname: disease number {number}\n\n" for number in range(1, 5_000)
)
CONTENT = OBO.encode()


@dataclass
class Publisher:
    """A server of one file, and how it misbehaves.

    Attributes:
        cuts: bytes of each answer after which the connection ends; none at the end of the list.
        states: of HTTP that come first.
        asked: method, range and condition of each request.
    """

    content: bytes = CONTENT
    tag: str = '"one"'
    ranges: bool = True
    lengths: bool = True
    redirect: str = ""
    cuts: list[int] = field(default_factory=list)
    states: list[int] = field(default_factory=list)
    asked: list[tuple[str, str | None, str | None]] = field(default_factory=list)
    port: int = 0

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        begin, condition = request.headers.get("Range"), request.headers.get("If-Range")
        self.asked.append((request.command, begin, condition))
        if self.redirect and request.path.startswith("/moved"):
            request.send_response(302)
            request.send_header("Location", self.redirect)
            request.end_headers()
            return
        if request.command == "GET" and self.states:
            request.send_error(self.states.pop(0))
            return
        start = (
            int(begin.removeprefix("bytes=").rstrip("-"))
            if begin and self.ranges and condition == self.tag
            else 0
        )
        body = self.content[start:]
        request.send_response(206 if start else 200)
        if self.lengths:
            request.send_header("Content-Length", str(len(body)))
        if start:
            request.send_header(
                "Content-Range", f"bytes {start}-{len(self.content) - 1}/{len(self.content)}"
            )
        if self.tag:
            request.send_header("ETag", self.tag)
        request.send_header("Last-Modified", "Mon, 02 Mar 2026 10:00:00 GMT")
        request.end_headers()
        if request.command == "GET":
            cut = self.cuts.pop(0) if self.cuts else len(body)
            request.wfile.write(body[:cut])
            request.close_connection = True

    @property
    def gets(self) -> list[str | None]:
        return [begin for method, begin, _ in self.asked if method == "GET"]


def set_clock(
    monkeypatch: pytest.MonkeyPatch,
    *,
    sleep: Callable[[float], object] = lambda seconds: None,
    monotonic: Callable[[], float] = time.monotonic,
) -> None:
    """Gives the module that is tested a clock of its own: other threads of this process, such as
    the event loop of a server, need the real one.
    """
    monkeypatch.setattr(index_fetch, "time", SimpleNamespace(sleep=sleep, monotonic=monotonic))


@pytest.fixture
def publisher(monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(index_fetch, "_SAVED", 10_000)
    set_clock(monkeypatch)
    found = Publisher()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.answer(self)

        def do_HEAD(self) -> None:
            found.answer(self)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


def table(folder: Path, url: str) -> Path:
    path = folder / "table.toml"
    rows = [
        'title = "Test"',
        'page = "https://example.org"',
        f'url = "{url}"',
        'licence = "CC0-1.0"',
    ]
    path.write_text(
        "[test]\n" + "\n".join(rows) + '\nsource = { reader = "obo", type = "Disease" }\n'
    )
    return path


@pytest.fixture
def fetched(publisher: Publisher, tmp_path: Path) -> Callable[..., Any]:
    def run(path: str = "/some/test.obo", **given: Any) -> Any:
        rows = table(tmp_path, f"http://127.0.0.1:{publisher.port}{path}")
        return fetch("test", tmp_path / "kept", table=rows, **given)

    return run


def left(folder: Path) -> set[str]:
    return {one.name for one in (folder / "kept").iterdir()}


def test_a_file_is_fetched_and_recorded(
    fetched: Callable[..., Any], publisher: Publisher, tmp_path: Path
) -> None:
    told: list[str] = []
    found = fetched(told=told.append)
    assert (tmp_path / "kept" / "test.obo").read_bytes() == CONTENT
    assert found.sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert found.date == "2026-03-02"
    (record,) = json.loads((tmp_path / "kept" / "fetched.json").read_bytes()).values()
    assert (record["sha256"], record["size"]) == (found.sha256, len(CONTENT))
    (sentence,) = told
    assert f"{len(CONTENT):,}" in sentence
    assert "CC0-1.0" in sentence
    assert left(tmp_path) == {"test.obo", "fetched.json"}


def test_what_the_command_prints_builds_a_pack(
    fetched: Callable[..., Any],
    publisher: Publisher,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    rows = table(tmp_path, f"http://127.0.0.1:{publisher.port}/test.obo")
    assert main(["index", "fetch", "test", "-o", str(tmp_path / "kept"), "--table", str(rows)]) == 0
    (tmp_path / "sources.toml").write_text('name = "made@1"\n\n' + capfd.readouterr().out)
    settings = read_pack_settings(tmp_path / "sources.toml").sources["test"]
    assert (settings.licence, settings.type, settings.reader) == ("CC0-1.0", "Disease", "obo")
    assert build_pack(tmp_path / "sources.toml", tmp_path / "pack").counts["concepts"] == 4_999
    (tmp_path / "kept" / "test.obo").write_bytes(CONTENT + b"\n")
    with pytest.raises(FascicleError, match=r"sha256|SHA-256"):
        build_pack(tmp_path / "sources.toml", tmp_path / "other")


def test_without_a_folder_nothing_is_fetched(publisher: Publisher, tmp_path: Path) -> None:
    rows, told = table(tmp_path, f"http://127.0.0.1:{publisher.port}/test.obo"), list[str]()
    assert fetch("test", table=rows, told=told.append) is None
    assert len(told) == 1
    assert publisher.gets == []


def test_an_unchanged_file_is_not_fetched_again(
    fetched: Callable[..., Any], publisher: Publisher
) -> None:
    first = fetched()
    assert fetched() == first
    assert publisher.gets == [None]


def test_a_folder_that_moved_has_its_files_where_it_is(
    publisher: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = table(tmp_path, f"http://127.0.0.1:{publisher.port}/test.obo")
    monkeypatch.chdir(tmp_path)
    fetch("test", "kept", table=rows)
    Path("kept").rename("other")
    found = fetch("test", "other", table=rows)
    assert found is not None
    assert Path(found.path) == Path("other", "test.obo")
    assert publisher.gets == [None]


def test_what_another_fetch_records_meanwhile_stays(
    fetched: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {
        "path": "b",
        "url": "c",
        "size": 1,
        "sha256": "0" * 64,
        "state": "",
        "date": "",
        "fetched": "",
    }
    record = tmp_path / "kept" / "fetched.json"
    set_clock(monkeypatch, sleep=lambda _: record.write_text(json.dumps({"other": other})))
    fetched()
    assert set(json.loads(record.read_bytes())) == {"other", "test"}


def test_keys_in_an_address_are_not_told(
    fetched: Callable[..., Any], publisher: Publisher, tmp_path: Path
) -> None:
    told: list[str] = []
    publisher.states = [403]
    with pytest.raises(InputError) as error:
        fetched("/some/test.obo?key=secret", told=told.append)
    publisher.cuts = [40_000, 0, 0, 0]
    with pytest.raises(InputError) as cut:
        fetched("/some/test.obo?key=secret")
    kept = b"".join(one.read_bytes() for one in (tmp_path / "kept").iterdir())
    fetched("/some/test.obo?key=secret")
    kept += (tmp_path / "kept" / "fetched.json").read_bytes()
    assert "secret" not in f"{told} {error.value} {cut.value} {kept.decode()}"


def test_more_bytes_than_were_said_are_not_taken(
    fetched: Callable[..., Any],
    publisher: Publisher,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    publisher.cuts = [40_000]

    def grow(seconds: float) -> None:
        if publisher.gets:
            publisher.content = CONTENT * 2  # with the same tag

    set_clock(monkeypatch, sleep=grow)
    with pytest.raises(InputError, match="changed"):
        fetched()
    assert (tmp_path / "kept" / "test.obo.part").stat().st_size <= len(CONTENT)
    assert not (tmp_path / "kept" / "test.obo").exists()


def test_a_cut_connection_goes_on_where_it_ended(
    fetched: Callable[..., Any], publisher: Publisher
) -> None:
    publisher.cuts = [50_000, 30_000]
    found = fetched()
    assert Path(found.path).read_bytes() == CONTENT
    assert publisher.gets == [None, "bytes=50000-", "bytes=80000-"]
    assert {condition for _, begin, condition in publisher.asked if begin} == {'"one"'}


def test_the_same_command_goes_on_later(
    fetched: Callable[..., Any], publisher: Publisher, tmp_path: Path
) -> None:
    publisher.cuts = [40_000, 0, 0, 0]
    with pytest.raises(InputError, match="to continue"):
        fetched()
    assert left(tmp_path) == {"test.obo.part", "test.obo.part.journal"}
    assert Path(fetched().path).read_bytes() == CONTENT
    assert publisher.gets[-1] == "bytes=40000-"
    assert left(tmp_path) == {"test.obo", "fetched.json"}


def test_a_part_of_another_version_is_begun_anew(
    fetched: Callable[..., Any], publisher: Publisher, tmp_path: Path
) -> None:
    publisher.cuts = [40_000, 0, 0, 0]
    with pytest.raises(InputError):
        fetched()
    publisher.tag, publisher.content = '"two"', b"format-version: 1.4\n" + CONTENT[:60_000]
    assert Path(fetched().path).read_bytes() == publisher.content
    assert publisher.gets[-1] is None


def test_a_change_between_two_parts_is_not_joined(
    fetched: Callable[..., Any],
    publisher: Publisher,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    publisher.cuts = [40_000]

    def change(seconds: float) -> None:
        if publisher.gets:
            publisher.tag, publisher.content = '"two"', b"y" * len(CONTENT)

    set_clock(monkeypatch, sleep=change)
    with pytest.raises(InputError, match="changed"):
        fetched()
    assert not (tmp_path / "kept" / "test.obo").exists()
    assert Path(fetched().path).read_bytes() == b"y" * len(CONTENT)


def test_a_server_without_ranges_sends_all_again(
    fetched: Callable[..., Any], publisher: Publisher
) -> None:
    publisher.ranges, publisher.cuts = False, [50_000]
    assert Path(fetched().path).read_bytes() == CONTENT
    assert publisher.gets == [None, "bytes=50000-"]


def test_without_a_version_nothing_is_joined(
    fetched: Callable[..., Any], publisher: Publisher
) -> None:
    publisher.cuts = [40_000, 0, 0, 0]
    with pytest.raises(InputError):
        fetched()
    publisher.tag = ""  # the time alone is left
    assert Path(fetched().path).read_bytes() == CONTENT
    assert publisher.gets[-1] is None


def test_another_file_is_refused_until_it_is_wanted(
    fetched: Callable[..., Any], publisher: Publisher, tmp_path: Path
) -> None:
    first = fetched()
    publisher.tag, publisher.content = '"two"', CONTENT[:-100]
    with pytest.raises(InputError, match=first.sha256) as error:
        fetched()
    assert error.value.code == "damaged"
    assert Path(first.path).read_bytes() == CONTENT
    count = len(publisher.gets)
    second = fetched(overwrite=True)
    assert Path(second.path).read_bytes() == publisher.content
    assert len(publisher.gets) == count  # it was there already
    assert left(tmp_path) == {"test.obo", "fetched.json"}
    assert fetched() == second


def test_the_same_content_of_another_version_is_the_same_file(
    fetched: Callable[..., Any], publisher: Publisher
) -> None:
    first = fetched()
    publisher.tag = '"two"'
    second = fetched()
    assert (second.sha256, second.fetched, second.state) == (first.sha256, first.fetched, '"two"')


def test_the_hash_is_compared_when_the_file_is_gone(
    fetched: Callable[..., Any], publisher: Publisher
) -> None:
    Path(fetched().path).unlink()
    publisher.content = b"z" * len(CONTENT)  # with the same tag
    with pytest.raises(InputError, match="another file"):
        fetched()


def test_a_file_of_somebody_else_stays(
    fetched: Callable[..., Any], publisher: Publisher, tmp_path: Path
) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "test.obo").write_bytes(b"mine")
    with pytest.raises(OutputError, match="exists"):
        fetched()
    assert publisher.gets == []
    assert (tmp_path / "kept" / "test.obo").read_bytes() == b"mine"
    path = Path(fetched(overwrite=True).path)
    path.write_bytes(b"changed by hand")
    with pytest.raises(OutputError, match="exists"):
        fetched()
    assert path.read_bytes() == b"changed by hand"


@pytest.mark.parametrize("code", [404, 403])
def test_a_refusal_is_told_at_once(
    fetched: Callable[..., Any], publisher: Publisher, code: int
) -> None:
    publisher.states = [code] * 9
    with pytest.raises(InputError, match=str(code)):
        fetched()
    assert len(publisher.gets) == 1


def test_a_failing_server_is_tried_again(fetched: Callable[..., Any], publisher: Publisher) -> None:
    publisher.states = [503, 500]
    assert Path(fetched().path).read_bytes() == CONTENT


def test_sizes_and_times_have_limits(
    fetched: Callable[..., Any],
    publisher: Publisher,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    publisher.content = b"x" * ((1 << 20) + 1)
    with pytest.raises(InputError, match="MiB"):
        fetched(limits=FetchLimits(mebibytes=1))
    assert publisher.gets == []
    clock = iter(range(0, 10**6, 40))  # each look at the clock is 40 seconds later
    set_clock(monkeypatch, monotonic=lambda: float(next(clock)))
    with pytest.raises(InputError, match="longer"):
        fetched(limits=FetchLimits(seconds=100))
    assert "test.obo.part" in left(tmp_path)


def test_a_file_of_unknown_size_is_not_fetched(
    fetched: Callable[..., Any], publisher: Publisher
) -> None:
    publisher.lengths = False
    with pytest.raises(InputError, match="how large"):
        fetched()


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/test.obo",
        "ftp://example.org/test.obo",
        "file:///etc/passwd",
        "data:text/plain,x",
        "//example.org/test.obo",
        "gopher://127.0.0.1/x",
    ],
)
def test_other_addresses_are_not_followed(
    fetched: Callable[..., Any], publisher: Publisher, tmp_path: Path, address: str
) -> None:
    publisher.redirect = address
    with pytest.raises(UsageError, match="https://"):
        fetched("/moved/test.obo")
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("address", ["https://[", "https://a:b/c"])
def test_a_redirect_to_no_address_is_told(
    fetched: Callable[..., Any], publisher: Publisher, address: str
) -> None:
    publisher.redirect = address
    with pytest.raises(InputError, match="reached"):
        fetched("/moved/test.obo")


def test_redirects_of_the_same_machine_are_followed(
    fetched: Callable[..., Any], publisher: Publisher
) -> None:
    publisher.redirect, publisher.cuts = f"http://127.0.0.1:{publisher.port}/elsewhere", [30_000]
    found = fetched("/moved/test.obo")
    assert Path(found.path).name == "test.obo"
    assert Path(found.path).read_bytes() == CONTENT
    assert "bytes=30000-" in publisher.gets


def test_nothing_leads_from_the_network_into_this_machine() -> None:
    with pytest.raises(UsageError, match="https://"):
        index_fetch._check("http://127.0.0.1:8080/x", begun="https://example.org/x")
    index_fetch._check("https://other.org/x", begun="https://example.org/x")


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="reached"):
        fetch("test", tmp_path / "kept", table=table(tmp_path, "http://127.0.0.1:9/test.obo"))


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/a.obo",
        "https://example.org",
        "https://example.org/..",
        "file:///a/b.obo",
        "a.obo",
        "https://[/b.obo",
    ],
)
def test_addresses_of_a_table_are_checked(tmp_path: Path, url: str) -> None:
    with pytest.raises(UsageError):
        vocabularies(table(tmp_path, url))


def test_a_damaged_record_is_no_record(fetched: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "fetched.json").write_text("{")
    with pytest.raises(FormatError, match="fetched"):
        fetched()


def test_every_public_vocabulary_has_what_is_needed() -> None:
    rows = vocabularies()
    assert len(rows) >= 10
    for name, row in rows.items():
        assert row.url.startswith("https://"), name
        assert row.page.startswith("https://"), name
        assert row.source["reader"] in READERS
        assert "type" in row.source or "types" in row.source
    assert len({row.file for row in rows.values()}) == len(rows)
    made = index_fetch.Fetched(
        path="a", url="b", size=1, sha256="0" * 64, state="", date="2026-01-02", fetched="2026"
    )
    for name in rows:
        assert name in tomllib.loads(source_table(name, made))["sources"]


def test_a_name_of_several_words_is_one_key(tmp_path: Path) -> None:
    rows = table(tmp_path, "https://example.org/a.obo")
    rows.write_text(rows.read_text().replace("[test]", '["my own.v2"]'))
    made = index_fetch.Fetched(
        path="a", url="b", size=1, sha256="0" * 64, state="", date="2026-01-02", fetched="2026"
    )
    assert list(tomllib.loads(source_table("my own.v2", made, table=rows))["sources"]) == [
        "my own.v2"
    ]


def test_the_list_needs_no_network(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "fetch"]) == 0
    assert capfd.readouterr().out.count("\n") == len(vocabularies())
    assert main(["index", "fetch", "mond"]) == 2
    assert "mondo" in capfd.readouterr().err


GO = """format-version: 1.2

[Term]
id: GO:0006915
name: apoptotic process
namespace: biological_process
synonym: "apoptosis" NARROW []

[Term]
id: GO:0005739
name: mitochondrion
namespace: cellular_component
"""


def test_go_is_fetched_and_becomes_a_pack(publisher: Publisher, tmp_path: Path) -> None:
    """The row of GO in the table of Fascicle, with a file that was made, from a server of this
    machine.
    """
    publisher.content = GO.encode()
    known = vocabularies()["go"]
    row = {"title": known.title, "page": known.page, "licence": known.licence}
    row["url"] = f"http://127.0.0.1:{publisher.port}/go-basic.obo"
    source = "\n".join(["[go.source]", 'reader = "obo"', "[go.source.types]"])
    kinds = "\n".join(f'{name} = "{kind}"' for name, kind in known.source["types"].items())
    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in row.items())
    (tmp_path / "table.toml").write_text(f"[go]\n{lines}\n{source}\n{kinds}\n")
    found = fetch("go", tmp_path / "kept", table=tmp_path / "table.toml")
    listed = source_table("go", found, table=tmp_path / "table.toml")
    (tmp_path / "sources.toml").write_text(f'name = "go@1"\n{listed}')
    build_pack(tmp_path / "sources.toml", tmp_path / "go")
    document = fascicle.load(tmp_path / "go")("Apoptosis began at the mitochondrion.")
    assert [(one.type, one.links[0].curie) for one in document] == [
        ("BiologicalProcess", "GO:0006915"),
        ("CellularComponent", "GO:0005739"),
    ]
