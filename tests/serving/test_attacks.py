"""What strangers try: each attempt has an answer of its own kind, costs nobody else anything,
and tells nothing.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from poison import LIMITS
from standing import JSON, TOKEN, Poison, Standing, standing

from fascicle.serving.app import ROUTES
from fascicle.serving.endpoint import Endpoint
from fascicle.serving.tokens import add_token, read_tokens, withdraw_token
from fascicle.settings.serving import LOCAL, Project, Role, ServeSettings, hash_token

pytestmark = pytest.mark.loopback
BEARER = {"Authorization": f"Bearer {TOKEN}"}
CLOSED = [one for one in ROUTES if not one.open]
GOOD = {"documents": [{"text": "x"}]}
PATIENT = Poison(limits=replace(LIMITS, seconds=300))


@pytest.fixture(scope="module")
def locked() -> Iterator[Standing]:
    settings = ServeSettings(
        body=50_000, text=5_000, documents=20, idle=1, token=TOKEN, requests=20, hosts=LOCAL
    )
    with standing({"poison": Poison()}, settings) as found:
        yield found
        assert TOKEN not in json.dumps(found.log)


def path_of(endpoint: Endpoint) -> str:
    return endpoint.path.replace("{curie:path}", "MESH:D1").replace("{id}", "0" * 32)


def is_problem(content: bytes) -> bool:
    found = json.loads(content)
    return {"title", "status", "detail", "code"} <= found.keys() and "Traceback" not in found[
        "detail"
    ]


@pytest.mark.parametrize("endpoint", CLOSED, ids=lambda one: f"{one.method} {one.path}")
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong-wrong-wrong-wrong"},
        {"Authorization": TOKEN},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer é"},
        {"Cookie": f"token={TOKEN}"},
        {
            "X-Forwarded-For": "127.0.0.1",
            "X-Original-URL": "/health",
            "X-HTTP-Method-Override": "GET",
        },
    ],
    ids=range(10),
)
def test_every_route_needs_the_token(
    locked: Standing, endpoint: Endpoint, headers: dict[str, str]
) -> None:
    body = json.dumps(GOOD).encode() if endpoint.body is not None else None
    given = {name: value.encode().decode("latin-1") for name, value in {**JSON, **headers}.items()}
    reply = locked.ask(endpoint.method, path_of(endpoint), body, given)
    assert reply.status == 401
    assert reply.headers["www-authenticate"] == "Bearer"
    assert is_problem(reply.content)


ABOVE_CURATORS = {
    ("GET", "/v1/curation/review"),
    ("GET", "/v1/curation/agreement"),
    ("POST", "/v1/curation/import"),
}


def test_each_role_enters_by_its_routes_alone(tmp_path: Path) -> None:
    """Every route with the tokens of each role, and with what is nearly the token of an
    administrator.
    """
    place = tmp_path / "tokens.json"
    roles: dict[str, Role] = {
        "Ada": "curator",
        "Ben": "curator",
        "Rita": "reviewer",
        "Adam": "administrator",
    }
    tokens = {name: add_token(place, name, role) for name, role in roles.items()}
    once = add_token(place, "Olga", "administrator")
    withdraw_token(place, "Olga")
    whole = tokens["Adam"]
    strangers = {
        "withdrawn": once,
        "the hash": hash_token(whole),
        "other case": whole.swapcase(),
        "a part": whole[:-1],
        "two": f"{whole} {tokens['Ada']}",
    }
    settings = ServeSettings(
        tokens=read_tokens(place),
        curation=str(tmp_path / "decisions.sqlite"),
        project=Project(curators=("Ada", "Ben"), per_document=2),
    )
    wrong, count = [], 0
    with standing({"poison": Poison()}, settings) as service:
        document = {"documents": [{"id": "a", "text": "x"}], "who": "Rita"}
        reviewer = {**JSON, "Authorization": f"Bearer {tokens['Rita']}"}
        assert service.ask("POST", "/v1/curation/documents", document, reviewer).status == 200
        for endpoint in CLOSED:
            body = b"{}" if endpoint.method == "POST" else None
            for who, token in {**tokens, **strangers}.items():
                headers = {**JSON, "Authorization": f"Bearer {token}"}
                path = path_of(endpoint) + "?id=a" * endpoint.path.endswith("/review")
                status = service.ask(endpoint.method, path, body, headers).status
                is_above = (endpoint.method, endpoint.path) in ABOVE_CURATORS
                refused = 401 if who in strangers else 403 if is_above else 0
                expected = 0 if roles.get(who, "") in {"reviewer", "administrator"} else refused
                count += 1
                if status >= 500 or (status if status in {401, 403} else 0) != expected:
                    wrong.append(f"{who} at {endpoint.method} {endpoint.path}: {status}")
    assert wrong == []
    assert count >= 300


@pytest.mark.parametrize(
    "path",
    [
        "//health/../v1/pipelines",
        "/health/../v1/pipelines",
        "/health/..%2fv1/pipelines",
        "/health%00/v1/pipelines",
        "/health;/v1/pipelines",
        "/HEALTH",
        "/health/",
        "//health",
        "/page/../v1/pipelines",
        "/page/..%2f..%2fsettings%2fserving.py",
        "/page/%2e%2e/%2e%2e/app.py",
        "/page//etc/passwd",
        "/page/..\\..\\app.py",
        "/v1/pipelines?token=" + TOKEN,
        "/v1/pipelines#/health",
        "/docs",
        "/.env",
        "/v1/jobs/../pipelines",
        "/" + "a" * 20_000,
    ],
)
def test_no_path_leads_around_the_guard(locked: Standing, path: str) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = locked.raw(request.encode())
    assert answer.split(b" ")[1] in (b"401", b"400")
    assert b"root:" not in answer
    assert b"fingerprint" not in answer


def test_a_method_that_a_path_does_not_have_is_answered_with_those_that_it_has(
    served: Standing,
) -> None:
    paths = {
        path_of(one): {other.method for other in ROUTES if other.path == one.path} for one in ROUTES
    }
    for path, methods in paths.items():
        reply = served.ask("BREW", path)
        assert reply.status == 405, path
        assert set(reply.headers["allow"].split(", ")) - {"HEAD"} == methods, path
    for path in ("/", "/page/index.html"):
        reply = served.ask("DELETE", path)
        assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD"), path


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/read?name=a.pubtator&name=b.xml", "name"),
        ("/v1/read?name=a&format=jsonl&format=bioc", "format"),
        ("/v1/annotate?pipeline=small&pipeline=small", "pipeline"),
    ],
)
def test_of_two_values_none_is_taken_in_silence(served: Standing, path: str, name: str) -> None:
    reply = served.ask("POST", path, GOOD, {"Content-Type": "application/json"})
    assert reply.status == 422
    assert f"the parameter {name} is given 2 times" in reply.content.decode()


def test_files_beyond_the_page_are_not_served(served: Standing) -> None:
    for path in (
        "/page/../app.py",
        "/page/%2e%2e/app.py",
        "/page/..%2fapp.py",
        "/page//etc/passwd",
        "/page/",
    ):
        answer = served.raw(
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
        )
        assert answer.split(b" ")[1] in (b"404", b"400", b"405"), path
        assert b"create_app" not in answer


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "localhost.evil.example"}, 421),
        ({"Host": "evil.example:8080"}, 421),
        ({"Host": ""}, 421),
        ({"Host": "[::1"}, 421),
        ({"Host": "[::1]:8080"}, 200),
        ({"Host": "[localhost]x.evil.example"}, 421),
        ({"Host": "[::1].evil.example"}, 421),
        ({"Host": "localhost:80:evil.example"}, 421),
        ({"Host": "localhost:evil.example"}, 421),
        ({"Host": "localhost", "Origin": "http://localhost"}, 200),
        ({"Host": "localhost", "Origin": "evil://localhost"}, 403),
        ({"Host": "localhost", "Origin": "http://evil.example://localhost"}, 403),
        ({"Host": "localhost", "Origin": "http://evil-localhost"}, 403),
        ({"Host": "localhost", "Origin": "http://localhost.evil.example"}, 403),
        ({"Host": "localhost", "Origin": "localhost"}, 403),
        ({"Host": "localhost", "Origin": ""}, 403),
        ({"Host": "LOCALHOST"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "multipart/form-data; boundary=a"}, 415),
        ({"Content-Type": "application/jsonx"}, 415),
        ({"Content-Type": ""}, 415),
        ({"Content-Encoding": "gzip"}, 400),
        ({"Content-Encoding": "br"}, 415),
        ({"Accept": "image/png"}, 406),
        ({"Accept": "application/json;q=x"}, 406),
        ({"Accept": ";;;,,,q=,"}, 406),
        ({"Accept": "*/*;q=0.1"}, 200),
    ],
    ids=str,
)
def test_headers_of_other_pages_are_refused(
    locked: Standing, headers: dict[str, str], status: int
) -> None:
    reply = locked.ask(
        "POST", "/v1/annotate", json.dumps(GOOD).encode(), {**JSON, **BEARER, **headers}
    )
    assert reply.status == status
    assert status == 200 or is_problem(reply.content)


CONTENTS: list[tuple[str, bytes, int]] = [
    ("nothing", b"", 400),
    ("no JSON", b"{", 400),
    ("no UTF-8", b'{"documents":[{"text":"\xff"}]}', 200),
    ("half a character", b'{"documents":[{"text":"\\ud800"}]}', 400),
    ("zero", b"\x00" * 100, 400),
    ("deep arrays", b"[" * 40_000, 422),
    ("deep objects", b'{"documents":[' + b'{"meta":' * 5_000, 400),
    (
        "deep and whole",
        b'{"documents":[{"text":"x","meta":' + b"[" * 5_000 + b"]" * 5_000 + b"}]}",
        400,
    ),
    ("an array", b"[]", 422),
    ("a number", b"1e999", 422),
    ("another field", b'{"documents":[],"pipeline":"/etc/passwd"}', 422),
    ("documents that are none", b'{"documents":"x"}', 422),
    ("too many documents", json.dumps({"documents": [{"text": "x"}] * 21}).encode(), 413),
    ("too many bytes", json.dumps({"documents": [{"text": "x" * 60_000}]}).encode(), 413),
    ("no documents", b'{"documents":[]}', 200),
    (
        "a huge number",
        b'{"documents":[{"text":"x","mentions":[{"spans":[[0,' + b"9" * 400 + b']],"type":"a"}]}]}',
        200,
    ),
    ("offsets beyond", b'{"documents":[{"text":"x","words":[[0,99]]}]}', 200),
    (
        "negative offsets",
        b'{"documents":[{"text":"x","mentions":[{"spans":[[-1,1]],"type":"a"}]}]}',
        200,
    ),
    (
        "no number",
        b'{"documents":[{"text":"x","mentions":[{"spans":[[0,1]],"type":"a","score":NaN}]}]}',
        400,
    ),
    ("the same key twice", b'{"documents":[{"text":"x","text":"!raise"}]}', 200),
    (
        "a URL for a text",
        b'{"documents":[{"text":"http://127.0.0.1:9/x","meta":{"url":"file:///etc/passwd"}}]}',
        200,
    ),
    ("an id that is code", b'{"documents":[{"id":"<script>alert(1)</script>","text":"x"}]}', 200),
    ("an id with a line break", b'{"documents":[{"id":"a\\r\\nSet-Cookie: a=b","text":"x"}]}', 200),
]


@pytest.mark.parametrize(
    ("content", "status"), [one[1:] for one in CONTENTS], ids=[one[0] for one in CONTENTS]
)
def test_content_is_taken_or_refused(locked: Standing, content: bytes, status: int) -> None:
    reply = locked.ask("POST", "/v1/annotate", content, {**JSON, **BEARER})
    assert reply.status == status
    assert status == 200 or is_problem(reply.content)
    assert "set-cookie" not in reply.headers
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["content-type"].startswith("application/")


@pytest.mark.parametrize(
    "query",
    [
        "pipeline=../../etc/passwd",
        "pipeline=%00",
        "pipeline=none",
        "threshold=nan",
        "threshold=-1",
        "threshold=1e9",
        "candidates=51",
        "candidates=1&candidates=2",
        "pipeline=none&pipeline=small",
        "links=maybe",
        "debug=1",
        "threshold=" + "9" * 5_000,
    ],
)
def test_parameters_are_checked(locked: Standing, query: str) -> None:
    reply = locked.ask("POST", f"/v1/annotate?{query}", GOOD, BEARER)
    assert reply.status in (404, 422)
    assert is_problem(reply.content)
    assert len(reply.content) < 1_000


@pytest.mark.parametrize(
    "method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "HEAD", "CONNECT", "NONSENSE"]
)
def test_other_methods_are_refused(locked: Standing, method: str) -> None:
    reply = locked.ask(method, "/v1/annotate", None, BEARER)
    assert reply.status in (400, 404, 405)
    assert "access-control-allow-origin" not in reply.headers


def test_jobs_are_not_found_by_paths(locked: Standing) -> None:
    for name in ("..", "%2e%2e%2f%2e%2e", "0" * 32, "a" * 5_000, "0" * 31 + "%00", ""):
        for method, end in (("GET", ""), ("GET", "/result"), ("DELETE", "")):
            assert locked.ask(method, f"/v1/jobs/{name}{end}", None, BEARER).status in (404, 405)


@pytest.mark.parametrize(
    "start",
    [
        b"POST /v1/annotate HTTP/1.1\r\nHost: localhost\r\n",
        b"POST /v1/annotate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 40\r\n"
        b"Authorization: Bearer " + TOKEN.encode() + b"\r\n\r\n{",
        b"",
    ],
    ids=["headers", "content", "nothing"],
)
def test_slow_clients_keep_nobody_waiting(locked: Standing, start: bytes) -> None:
    with socket.create_connection(("127.0.0.1", locked.port), timeout=60) as sock:
        sock.sendall(start)
        assert locked.ask("POST", "/v1/annotate", GOOD, BEARER).status == 200
        if start.endswith(b"{"):
            assert sock.recv(65_536).split(b" ")[1] == b"408"


def test_who_does_not_read_a_stream_is_cut_off_without_a_fault(
    locked: Standing, caplog: pytest.LogCaptureFixture
) -> None:
    head = "POST /v1/stream HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
    head += f"Authorization: Bearer {TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n"
    line = json.dumps({"text": "x and x " * 500}).encode() + b"\n"
    with socket.create_connection(("127.0.0.1", locked.port), timeout=4) as sock, suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        sock.sendall(head.encode())
        for _ in range(20_000):
            sock.sendall(b"%x\r\n%s\r\n" % (len(line), line))
    until = time.monotonic() + 30
    while not any(one["route"] == "/v1/stream" and one.get("cut") for one in locked.log):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert not [record for record in caplog.records if record.exc_info]
    assert locked.ask("POST", "/v1/annotate", GOOD, BEARER).status == 200


def test_two_lengths_are_no_request(locked: Standing) -> None:
    common = f"POST /v1/annotate HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    for lines in (
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 1e9\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        " folded: header\r\n",
        "bad header\r\n",
        "X: " + "a" * 70_000 + "\r\n",
    ):
        answer = locked.raw(f"{common}{lines}\r\n".encode(), timeout=60)
        assert answer.split(b" ")[1] in (b"400", b"401", b"415", b"431", b"501"), lines


def test_a_request_with_two_ends_is_the_last_of_its_connection(locked: Standing) -> None:
    """A proxy may have seen another end (RFC 9112, 6.1): what follows could be a request that it
    never checked.
    """
    both = "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    hidden = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for path, lines in (
        ("/health", ""),
        ("/v1/annotate", f"Authorization: Bearer {TOKEN}\r\n"),
        ("/nowhere", ""),
    ):
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{lines}Content-Type: application/json\r\n"
        )
        answers = locked.raw(f"{head}{both}{hidden}".encode(), timeout=60)
        assert answers.count(b"HTTP/1.1 ") == 1
        assert b"connection: close" in answers.lower()


def test_a_length_that_lies_is_cut_off(locked: Standing) -> None:
    head = "POST /v1/annotate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Authorization: Bearer {TOKEN}\r\n"
    told = locked.raw(f"{head}Content-Length: 99999999999\r\n\r\n".encode(), timeout=60)
    assert told.split(b" ")[1] == b"413"
    chunk = b"1000\r\n" + b" " * 4_096 + b"\r\n"
    untold = locked.raw(
        f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + chunk * 40, timeout=60
    )
    assert untold.split(b" ")[1] == b"413"


def test_more_requests_than_may_run_are_refused(tmp_path: Path) -> None:
    with standing({"poison": PATIENT}, ServeSettings(requests=2)) as found:
        hanging = {"documents": [{"text": f"!await {tmp_path / 'go'}"}]}

        def insist() -> None:
            while found.ask("POST", "/v1/annotate", hanging, timeout=300).status == 503:
                pass  # a request of below came before

        threads = [threading.Thread(target=insist) for _ in range(2)]
        for thread in threads:
            thread.start()
        while (reply := found.ask("GET", "/v1/pipelines")).status == 200:  # until both run
            assert any(thread.is_alive() for thread in threads)
        assert (reply.status, reply.headers["retry-after"]) == (503, "1")
        assert found.ask("GET", "/health").status == 200
        (tmp_path / "go").touch()
        for thread in threads:
            thread.join()
        assert found.ask("GET", "/v1/pipelines").status == 200


def test_contents_that_do_not_come_give_way(locked: Standing) -> None:
    head = f"POST /v1/annotate HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    head += "Content-Type: application/json\r\nContent-Length: 10\r\n\r\n"
    with ExitStack() as held:
        socks = []
        for _ in range(locked.service.settings.requests + 1):
            socks.append(
                held.enter_context(socket.create_connection(("127.0.0.1", locked.port), timeout=60))
            )
            socks[-1].sendall(head.encode())
        assert locked.ask("GET", "/v1/pipelines", None, BEARER).status == 200
        assert socks[0].recv(65_536).split(b" ")[1] == b"408"


def test_a_client_that_goes_away_frees_its_place(locked: Standing) -> None:
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", locked.port), timeout=60) as sock:
            content = json.dumps({"documents": [{"text": "x"}] * 20}).encode()
            sock.sendall(
                "POST /v1/annotate HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                "application/json\r\n"
                f"Authorization: Bearer {TOKEN}\r\nContent-Length: {len(content)}\r\n\r\n".encode()
                + content
            )
    assert locked.ask("POST", "/v1/annotate", GOOD, BEARER).status == 200
    pool = locked.service.pools["poison"]
    until = time.monotonic() + 60
    while pool.waiting and time.monotonic() < until:
        time.sleep(0.05)
    assert pool.waiting == 0


def test_text_is_in_no_log_and_no_error(
    locked: Standing, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = "a-very-private-text"
    locked.ask(
        "POST",
        "/v1/annotate",
        {"documents": [{"id": secret, "text": secret}, {"text": f"!raise {secret}"}]},
        BEARER,
    )
    locked.ask("GET", f"/v1/concepts/{secret}:1", None, BEARER)
    locked.ask(
        "POST",
        f"/v1/read?name={secret}.txt",
        secret.encode(),
        {**BEARER, "Content-Type": "application/octet-stream"},
    )
    assert secret not in json.dumps(locked.log)
    out, err = capfd.readouterr()
    assert secret not in out + err


def test_health_needs_no_token_and_tells_little(locked: Standing) -> None:
    reply = locked.ask("GET", "/health")
    assert (reply.status, set(reply.json)) == (200, {"status", "version"})
    assert "server" not in reply.headers


def test_the_page_is_there_without_the_token_if_asked(small: Path) -> None:
    with standing({"poison": Poison()}, ServeSettings(token=TOKEN, open_page=True)) as found:
        assert found.ask("GET", "/").status == 200
        assert found.ask("GET", "/v1/pipelines").status == 401
        assert found.ask("GET", "/openapi.json").status == 401
        assert "'unsafe" not in found.ask("GET", "/").headers["content-security-policy"]


def test_a_page_of_another_origin_that_was_named_may_ask() -> None:
    ours, other = "https://lab.example", "https://evil.example"
    asks = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    with standing({"poison": Poison()}, ServeSettings(token=TOKEN, origins=(ours,))) as found:
        reply = found.ask("OPTIONS", "/v1/annotate", None, {"Origin": ours, **asks})
        assert (reply.status, reply.headers["access-control-allow-origin"]) == (204, ours)
        assert found.ask("OPTIONS", "/v1/annotate", None, {"Origin": other, **asks}).status == 403
        assert found.ask("OPTIONS", "/v1/annotate", None, {"Origin": ours}).status == 401
        reply = found.ask("POST", "/v1/annotate", GOOD, {"Origin": ours, **BEARER})
        assert (reply.status, reply.headers["access-control-allow-origin"]) == (200, ours)
        assert found.ask("POST", "/v1/annotate", GOOD, {"Origin": ours}).status == 401
        reply = found.ask("POST", "/v1/annotate", GOOD, BEARER)
        assert (reply.status, "access-control-allow-origin" in reply.headers) == (200, False)
        # the token is enough
        assert found.ask("GET", "/health", None, {"Host": "any.example"}).status == 200


def test_no_answer_waits_for_another(tmp_path: Path) -> None:
    """A document that takes long keeps its worker, and answers that need none come at once."""
    with standing({"poison": PATIENT}, ServeSettings()) as found:
        long = {"documents": [{"text": f"!await {tmp_path / 'go'}"}]}
        waiting = threading.Thread(
            target=partial(found.ask, "POST", "/v1/annotate", long, timeout=300)
        )
        waiting.start()
        until = time.monotonic() + 60
        while not found.service.pools["poison"].waiting:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert found.ask("GET", "/v1/pipelines").status == 200
        assert waiting.is_alive()
        (tmp_path / "go").touch()
        waiting.join()


@pytest.mark.parametrize(
    "path", ["/page/{}", "/page/code/{}.js", "/v1/jobs/{}", "/{}", "/v1/concepts/MESH:{}"]
)
def test_a_name_that_no_file_may_have_is_not_found_and_not_logged(
    locked: Standing, path: str
) -> None:
    for name in ("q" * 300, "%C3%A9" * 200):
        reply = locked.ask("GET", path.format(name), None, BEARER)
        assert reply.status == 404
    assert "qqqq" not in json.dumps(locked.log)
