"""What every test shares: no network, reproducible properties, where the corpora are, and a tiny
trained model.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, settings
from tests.support.tiny_encoder import make_tiny_encoder

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from fascicle.settings.recipes.recogniser import Recipe

# The models of tests are so small that threads only wait for each other, on a busy machine for
# minutes.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("fascicle", derandomize=True, deadline=None, print_blob=True)
settings.register_profile(
    "search", deadline=None, max_examples=2000
)  # HYPOTHESIS_PROFILE=search looks for new failures
settings.register_profile(
    "mutants", derandomize=True, deadline=None, phases=(Phase.explicit, Phase.generate)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fascicle"))


def pytest_configure(config: pytest.Config) -> None:
    """Gives each process of tests a core."""
    if hasattr(config, "workerinput"):
        keep_to_one_core(config.workerinput["workerid"])


def keep_to_one_core(worker: str) -> None:
    """Models use all cores that there are; where each worker of xdist did so, their threads
    would only wait.
    """
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[int(worker.removeprefix("gw")) % len(cores)]})


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium: one for all tests of a process, for a second one cannot be driven beside it."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"none of the browsers {', '.join(names)} is installed")
    api = pytest.importorskip(
        "playwright.sync_api", reason="playwright, which drives the browser, is not installed"
    )
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, which is not ours to keep here."""
    path = Path(__file__).parents[1] / "build" / "axe" / "package" / "axe.min.js"
    if not path.is_file():
        pytest.skip(
            "axe-core is not there: mkdir -p build/axe && cd build/axe && npm pack axe-core && "
            "tar xzf *.tgz"
        )
    return path.read_text(encoding="utf-8")


class NetworkUsedError(AssertionError):
    """A test, or the code under it, reached for the network."""


@pytest.fixture(autouse=True)
def no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets no test reach the network; sockets between processes of this machine stay allowed.

    Those that need TCP for that are marked ``loopback``.
    """
    connect, connect_ex, look_up = (
        socket.socket.connect,
        socket.socket.connect_ex,
        socket.getaddrinfo,
    )
    hosts = ("127.0.0.1",) if request.node.get_closest_marker("loopback") else ()

    def guarded(self: socket.socket, address: Any) -> None:
        _refuse(self, address, hosts)
        connect(self, address)

    def guarded_ex(self: socket.socket, address: Any) -> int:
        _refuse(self, address, hosts)
        return connect_ex(self, address)

    def resolve(host: Any, *rest: Any, **named: Any) -> Any:
        if host in hosts:
            return look_up(host, *rest, **named)
        raise NetworkUsedError(f"a test looked up the host {host!r}; tests use no network")

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_ex)
    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def _refuse(sock: socket.socket, address: Any, hosts: tuple[str, ...]) -> None:
    if sock.family != socket.AF_UNIX and address[0] not in hosts:
        raise NetworkUsedError(f"a test connected to {address!r}; tests use no network")


@pytest.fixture(scope="session")
def fascicle_data() -> Path:
    """The folder of corpora that ``FASCICLE_DATA`` names; tests that need it are skipped where
    there is none.
    """
    folder = os.environ.get("FASCICLE_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("FASCICLE_DATA names no folder of corpora")
    return Path(folder)


_PIECES = (
    "[PAD] [UNK] [CLS] [SEP] . , - the a of in and with has had was is no patient doctor lung "
    "liver heart cancer pain "
    "fever failure aspirin ibuprofen caused chronic took gave 5 mg for ##s ##er ##itis ##ine "
    "hepat caffe ( ) é a b c"
)
_TYPE_PIECES = "chemical disease drug [ ]"  # in names and descriptions of types; behind the others
_TOY = """\
the O|patient O|has O|lung B-Disease|cancer I-Disease|. O
aspirin B-Chemical|caused O|pain B-Disease|in O|the O|patient O
no O|fever B-Disease|, O|no O|pain B-Disease|. O
the O|doctor O|gave O|ibuprofen B-Chemical|for O|chronic B-Disease|liver I-Disease|failure I-Disease
caffeine B-Chemical|and O|aspirin B-Chemical|. O
hepatitis B-Disease|in O|patients O|with O|heart B-Disease|failure I-Disease
a O|patient O|took O|5 O|mg O|of O|caffeine B-Chemical
the O|doctor O|was O|in O|the O|liver O
lung B-Disease|cancer I-Disease|pain B-Disease|and O|fever B-Disease
aspirin B-Chemical|ibuprofen B-Chemical|caused O|hepatitis B-Disease|. O
"""


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Stamps of files stay out of the cache of the user, also in processes that tests start."""
    os.environ["XDG_CACHE_HOME"] = os.environ["LOCALAPPDATA"] = str(
        tmp_path_factory.mktemp("cache")
    )


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a random BERT of two small layers and a fast WordPiece tokenizer; it reads
    at most 64 pieces.
    """
    pytest.importorskip("transformers")
    pieces, types = (tuple(dict.fromkeys(listed.split())) for listed in (_PIECES, _TYPE_PIECES))
    more = [piece for piece in types if piece not in pieces]
    return make_tiny_encoder(tmp_path_factory.mktemp("tiny-encoder"), pieces, more=more)


@pytest.fixture(scope="session")
def toy_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A column file of ten sentences with the types Chemical and Disease, 18 mentions."""
    path = tmp_path_factory.mktemp("toy-corpus") / "toy.tsv"
    path.write_text(
        _TOY.replace(" ", "\t").replace("\n", "\n\n").replace("|", "\n"), encoding="utf-8"
    )
    return path


_TOY_TYPES = """\
[[type]]
name = "Disease"
keyword = "disease"
description = "A disease of a patient : cancer , pain , fever , failure of the heart ."
examples = ["the patient had [[fever]] .", "[[lung cancer]] is a pain", "no [[hepatitis]] in the liver"]

[[type]]
name = "Chemical"
keyword = "chemical drug"
description = "A chemical that a doctor gave : aspirin , ibuprofen , caffeine ."
examples = ["the patient took [[aspirin]]", "5 mg of [[ibuprofen]] .", "([[caffeine]])", "a doctor had [[aspirin]]"]
"""


@pytest.fixture(scope="session")
def toy_types(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Descriptions of the types of the toy corpus."""
    path = tmp_path_factory.mktemp("toy-types") / "toy-types.toml"
    path.write_text(_TOY_TYPES, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def toy_dictionary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The table ``distant`` of a recipe: a dictionary for the toy corpus, and phrases without
    types.
    """
    folder = tmp_path_factory.mktemp("toy-dictionary")
    core = (
        "Chemical\taspirin",
        "Chemical\tibuprofen",
        "Disease\tlung cancer",
        "Disease\tpain",
        "Disease\thepatitis",
    )
    (folder / "core.tsv").write_text("\n".join(core) + "\n", encoding="utf-8")
    (folder / "full.txt").write_text("heart failure\ncaffeine\nlung cancer\n", encoding="utf-8")
    return {"core": str(folder / "core.tsv"), "full": str(folder / "full.txt")}


@pytest.fixture(scope="session")
def tiny_recipe(tiny_encoder: Path, toy_corpus: Path) -> Callable[..., Recipe]:
    """Makes recipes for the toy corpus: ``tiny_recipe(model={"family": "crf"},
    training={"epochs": 2})``.
    """
    from fascicle.settings.recipes.any import parse_recipe

    defaults: dict[str, Any] = {
        "name": "tiny",
        "corpus": {"train": str(toy_corpus), "dev": str(toy_corpus), "documents": "sentence"},
        "reading": {"max_length": 32, "overlap": 4},
        "model": {"encoder": str(tiny_encoder)},
        "training": {"epochs": 12, "learning_rate": 1e-2, "batch_size": 4, "precision": "fp32"},
    }

    def make(**changes: Any) -> Recipe:
        tables = {
            k: {**v, **changes.pop(k, {})} if isinstance(v, dict) else v
            for k, v in defaults.items()
        }
        return parse_recipe({**tables, **changes}, origin="tiny.toml")

    return make


@pytest.fixture(scope="session")
def tiny_run(
    tiny_recipe: Callable[..., Recipe], toy_corpus: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A finished run folder, its model (``best``) faultless on the toy corpus."""
    from fascicle.training.run import run_recipe

    folder = tmp_path_factory.mktemp("tiny-run") / "run"
    for _ in run_recipe(tiny_recipe(corpus={"test": str(toy_corpus)}), folder):
        pass
    return folder
