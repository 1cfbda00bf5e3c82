"""Opening a pack: what is refused, what it costs, and that processes share it."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import psutil
import pytest
from tests.support.packs import NORMALISER, PARTS, RECORDS, build_small

import fascicle
from fascicle.core.document import Document
from fascicle.core.files import intact
from fascicle.core.files.owned import file_facts
from fascicle.errors import InputError, PackError
from fascicle.settings.folders.vocabularies import PACK
from fascicle.terms.pack.arrays import file_dtype
from fascicle.terms.pack.builder import BuildSettings, PackSource, build
from fascicle.terms.pack.differences import mention_changes
from fascicle.terms.pack.layout import FileFacts, PackManifest, SourceFacts, write_manifest
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.verifying import verify
from fascicle.terms.terms import ConceptRecord, Name
from fascicle.verbs.tasks.index import diff, export, stats, why
from fascicle.verbs.tasks.index_build import build_pack

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_small(tmp_path_factory.mktemp("built") / "pack").folder


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "pack"))


def refused(folder: Path, *, normaliser: str = NORMALISER, whole: bool = False) -> PackError:
    def use() -> None:
        pack = Pack.open(folder, normaliser=normaliser)
        if whole:
            verify(pack)

    with pytest.raises(PackError) as error:
        use()
    assert "\n" not in str(error.value)
    return error.value


def rewrite(folder: Path, **changes: Any) -> None:
    """Another manifest that fits to its own hash."""
    old = msgspec.json.decode((folder / PACK).read_bytes(), type=PackManifest)
    write_manifest(folder, msgspec.structs.replace(old, **changes))


def test_another_format_and_another_normaliser_name_the_command_that_rebuilds(folder: Path) -> None:
    error = refused(folder, normaliser="keys@9")
    assert error.code == "version"
    assert NORMALISER in str(error)
    assert f"fascicle index build SOURCES -o {folder}" in str(error)
    rewrite(folder, format=2)
    error = refused(folder)
    assert error.code == "version"
    assert "fascicle index build" in str(error)


def test_no_pack(tmp_path: Path) -> None:
    assert refused(tmp_path / "none").code == "not-found"
    (tmp_path / PACK).write_text("{}", encoding="utf-8")
    refused(tmp_path)
    (tmp_path / PACK).write_bytes(b"\xff{")
    refused(tmp_path)


def test_a_missing_file_and_a_changed_size(built: Path, tmp_path: Path) -> None:
    names = [
        path.name for path in built.iterdir() if not path.name.startswith(".") and path.name != PACK
    ]
    for name in names:
        folder = Path(shutil.copytree(built, tmp_path / "copy"))
        (folder / name).write_bytes((folder / name).read_bytes() + b"x")
        assert name in str(refused(folder))
        (folder / name).unlink()
        assert name in str(refused(folder))
        shutil.rmtree(folder)


def test_a_changed_manifest(folder: Path) -> None:
    values = json.loads((folder / PACK).read_bytes())
    values["types"] = values["types"][::-1]
    (folder / PACK).write_text(json.dumps(values), encoding="utf-8")
    assert refused(folder).code == "damaged"


def test_files_elsewhere_are_never_looked_at(folder: Path) -> None:
    old = msgspec.json.decode((folder / PACK).read_bytes(), type=PackManifest)
    rewrite(folder, files={**old.files, "../../etc/passwd": FileFacts(size=1, sha256="")})
    assert "elsewhere" in str(refused(folder))


@pytest.mark.parametrize("name", ["", "a\0b", "..", "pipe", "below"])
def test_only_files_of_the_pack_are_its_files(folder: Path, name: str) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "below").mkdir()
    old = msgspec.json.decode((folder / PACK).read_bytes(), type=PackManifest)
    size = (folder / name).stat().st_size if "\0" not in name else 0
    rewrite(folder, files={**old.files, name: FileFacts(size=size, sha256="")})
    refused(folder)


def test_a_manifest_without_end_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / PACK).write_bytes(b'{"format":1,"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    refused(folder)
    (folder / PACK).write_bytes(b'{"format":1}' + b" " * 2**26)
    assert "bytes" in str(refused(folder))


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("names.starts.u4", lambda pack: pack.active.of_key_rows(np.array([0]))),
        ("parents.starts.u4", lambda pack: pack.parent_rows.take(np.array([0]))),
    ],
)
def test_lists_without_end_take_no_memory(
    folder: Path, name: str, ask: Callable[[Pack], object]
) -> None:
    """A list of 4 billion terms would be allocated before anybody saw that they are not there."""
    old = msgspec.json.decode((folder / PACK).read_bytes(), type=PackManifest)
    place = folder / name
    place.write_bytes(bytes(4) + b"\xff" * (place.stat().st_size - 4))
    size, sha256 = file_facts(place)
    rewrite(folder, files={**old.files, name: FileFacts(size=size, sha256=sha256)})
    pack = Pack.open(folder, normaliser=NORMALISER)
    tracemalloc.start()
    with pytest.raises(IndexError):
        ask(pack)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


@pytest.mark.parametrize(
    "name", ["names.concept.u4", "concepts.type.u2", "names.surfaces.bytes.u1"]
)
def test_a_damaged_pack_with_right_hashes_is_told_by_every_question(
    tmp_path: Path, name: str
) -> None:
    table = "id\tname\nDOID:1\trenal failure\nDOID:2\thepatic coma\n"
    (tmp_path / "names.tsv").write_text(table, encoding="utf-8")
    (tmp_path / "sources.toml").write_text(
        'name = "small"\n[sources.a]\npath = "names.tsv"\nreader = "table"\ntype = "Disease"\n'
        'columns = { id = "id", name = "name" }\n',
        encoding="utf-8",
    )
    folder, table_of = tmp_path / "pack", tmp_path / "out.tsv"
    files = build_pack(tmp_path / "sources.toml", folder).files
    (folder / name).write_bytes(b"\xff" * (folder / name).stat().st_size)
    size, sha256 = file_facts(folder / name)
    rewrite(folder, files={**files, name: FileFacts(size=size, sha256=sha256)})
    for ask in (
        partial(why, folder, "renal failure"),
        partial(export, folder, table_of),
        partial(stats, folder),
    ):
        if name.endswith(".bytes.u1") and ask.func is stats:
            continue  # which reads no surface
        with pytest.raises(PackError, match="verify"):
            ask()
    assert not table_of.exists()
    sound = tmp_path / "sound"
    build_pack(tmp_path / "sources.toml", sound)
    for first, second in ((folder, sound), (sound, folder)):
        with pytest.raises(PackError, match=f"{folder} .*verify"):
            list(diff(first, second))
        if not name.endswith(".bytes.u1"):  # which finding does not read
            with pytest.raises(PackError, match=f"{folder} .*verify"):
                list(
                    mention_changes(
                        Pack.open(first),
                        Pack.open(second),
                        [Document(id="1", text="A renal failure, hepatic coma.")],
                    )
                )
    with pytest.raises(PackError, match=f"{folder} .*verify"):
        list(fascicle.load(str(folder)).stream(["A renal failure, hepatic coma."]))


@pytest.mark.parametrize(
    "name", ["names.surfaces.offsets.u4", "names.surfaces.bytes.u1", "concepts.type.u2"]
)
def test_a_part_of_a_value_at_the_end_of_a_file_is_damage(
    built: Path, tmp_path: Path, name: str
) -> None:
    folder = Path(shutil.copytree(built, tmp_path / "pack"))
    place = folder / name
    place.write_bytes(place.read_bytes() + b"\x00")
    files = msgspec.json.decode((folder / PACK).read_bytes(), type=PackManifest).files
    size, sha256 = file_facts(place)
    rewrite(folder, files={**files, name: FileFacts(size=size, sha256=sha256)})
    assert refused(folder, whole=name.endswith(".u1")).code in ("damaged", "pack")


def test_damage_of_equal_size_is_found_at_opening(built: Path, tmp_path: Path) -> None:
    """One value is moved by one, is another one, or stands at another place; times stay as they
    were.
    """
    draw = random.Random(2)
    damages = 0
    for path in sorted(built.iterdir()):
        if path.name.startswith(".") or path.name == PACK or not path.stat().st_size:
            continue
        step = np.dtype(f"<{path.suffix[1:]}").itemsize if path.suffix != ".table" else 1
        values = np.frombuffer(path.read_bytes(), dtype=f"<u{step}")
        at = draw.randrange(len(values))
        value = int(values[at])
        for wrong in (value + 1, value - 1, value ^ 1 << 3, value + 256):
            other = values.copy()
            other[at] = wrong % (1 << 8 * step) if (wrong - value) % (1 << 8 * step) else value ^ 1
            folder = Path(shutil.copytree(built, tmp_path / "copy"))
            (folder / path.name).write_bytes(other.tobytes())
            shutil.copystat(path, folder / path.name)
            assert path.name in str(refused(folder))
            shutil.rmtree(folder)
            damages += 1
    assert damages > 100


def test_one_flipped_byte_of_any_file_is_found(built: Path, tmp_path: Path) -> None:
    draw = random.Random(1)
    for path in sorted(built.iterdir()):
        content = bytearray(path.read_bytes())
        if path.name.startswith(".") or not content:
            continue
        folder = Path(shutil.copytree(built, tmp_path / "copy"))
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        (folder / path.name).write_bytes(content)
        refused(folder, whole=True)
        shutil.rmtree(folder)


def test_values_that_cannot_be_are_found_though_all_hashes_are_right(
    built: Path, tmp_path: Path
) -> None:
    """Whoever wrote the pack may have been wrong: each value is set to the largest there is, and
    to another order.
    """
    found = set()
    for path in sorted(built.iterdir()):
        dtype = (
            file_dtype(path.name) if path.name.endswith(("u1", "u2", "u4", "u8", "f4")) else None
        )
        if dtype is None or not path.stat().st_size:
            continue
        values = np.fromfile(path, dtype=dtype)
        wrong = values.copy()
        wrong[len(wrong) // 2] = -1.0 if dtype.kind == "f" else np.iinfo(dtype).max
        for other in (wrong, values[::-1]):
            if np.array_equal(other, values):
                continue
            folder = Path(shutil.copytree(built, tmp_path / "copy"))
            (folder / path.name).write_bytes(other.tobytes())
            size, sha256 = file_facts(folder / path.name)
            old = msgspec.json.decode((folder / PACK).read_bytes(), type=PackManifest)
            rewrite(folder, files={**old.files, path.name: FileFacts(size=size, sha256=sha256)})
            if other is wrong:
                # the largest there says that there is none
                if path.name not in ("concepts.label.u4",):
                    refused(folder, whole=True)
                    found.add(path.name)
            else:
                with (
                    pytest.raises(PackError)
                    if path.name.endswith(("starts.u4", "offsets.u4"))
                    else _any()
                ):
                    verify(Pack.open(folder, normaliser=NORMALISER))
            shutil.rmtree(folder)
    assert len(found) > 25


class _any:  # noqa: N801
    """Some other orders are as possible as the first: nothing but no crash is asked for."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> bool:
        return kind is None or issubclass(kind, PackError)


def test_an_unknown_concept_gets_a_hint(built: Path) -> None:
    pack = Pack.open(built, normaliser=NORMALISER)
    with pytest.raises(InputError, match="MESH:D009369"):
        pack.concept("mesh:D009369")
    with pytest.raises(InputError):
        pack.ancestors("")


def test_what_is_asked_for_together_is_what_is_asked_for_alone(tmp_path: Path) -> None:
    nameless = ConceptRecord(curie="X:1", type="Disease", names=(Name("!", "label"),))
    pack = build_small(tmp_path / "pack", {**RECORDS, "more": (nameless,)})
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(len(pack)), 2))
    assert pack.labels_at(rows) == [pack.label_at(row) for row in rows.tolist()]
    assert {"X:1", "Old growth"} <= set(pack.labels_at(rows))
    assert pack.definitions_at(rows) == [pack.concept_at(row).definition for row in rows.tolist()]
    terms = np.arange(len(pack.active))[::-1]
    alone = [pack.term(pack.active, term) for term in terms.tolist()]
    assert {str(one.prior) for one in alone} >= {"0.95", "0.019"}
    assert pack.short_terms(terms) == [
        (one.surface, one.concept, one.case, one.off, one.prior) for one in alone
    ]
    assert pack.labels_at(rows[:0]) == pack.short_terms(terms[:0]) == []


def test_a_circle_in_the_hierarchy_does_not_hang(tmp_path: Path) -> None:
    records = [
        ConceptRecord(
            curie=f"X:{n}",
            type="Gene",
            names=(Name(f"n{n}"),),
            parents=(f"X:{(n + 1) % 3}", f"X:{n}"),
        )
        for n in range(3)
    ]
    pack = build_small(tmp_path / "pack", {"circle": records})
    assert pack.ancestors("X:0") == pack.descendants("X:0") == ("X:1", "X:2")
    assert pack.parents("X:0") == ("X:1",)


NAMES = 100_000
SHARED = """
import sys
import numpy as np
import psutil
from tests.support.packs import NORMALISER
from fascicle.terms.pack.differences import mention_changes
from fascicle.terms.pack.pack import Pack
from fascicle.settings.folders.vocabularies import PACK
from fascicle.verbs.tasks.index_build import build_pack
from fascicle.verbs.tasks.index import diff
from fascicle.verbs.tasks.index import export
from fascicle.verbs.tasks.index import stats
from fascicle.verbs.tasks.index import why
pack = Pack.open(sys.argv[1], normaliser=NORMALISER)
before = psutil.Process().memory_full_info().uss
total = 0
for one in (pack.active, pack.silent):
    for array in (one.keys.strings.content, one.keys.hashes, one.surfaces.content, one.concept, one.surface, one.prior):
        total += int(np.bitwise_xor.reduce(array.view(np.uint8)[::512])) if len(array) else 0  # every page
print(total, pack.full_name, flush=True)
sys.stdin.readline()
print(psutil.Process().memory_full_info().uss - before, flush=True)
"""


@pytest.mark.slow
def test_a_large_pack_opens_at_once_and_two_processes_share_it(tmp_path: Path) -> None:
    def records() -> Any:
        for number in range(NAMES // 4):
            names = tuple(
                Name(f"name of the thing with the number {number} in form {form}")
                for form in range(4)
            )
            yield ConceptRecord(curie=f"X:{number}", type="Gene", names=names)

    folder = tmp_path / "pack"
    build(
        [PackSource(SourceFacts(name="many"), records)],
        BuildSettings(name="many"),
        folder,
        parts=PARTS,
    )
    size = sum(path.stat().st_size for path in folder.iterdir())
    time.sleep(intact.SETTLED / 1e9)  # so that a stamp can vouch for what was written
    Pack.open(folder, normaliser=NORMALISER)
    begun = time.process_time()
    Pack.open(folder, normaliser=NORMALISER)
    assert time.process_time() - begun < 0.05
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    pipes: dict[str, Any] = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "text": True,
        "env": environment,
    }
    processes = [
        subprocess.Popen([sys.executable, "-c", SHARED, str(folder)], **pipes) for _ in range(2)
    ]
    said = [process.stdout.readline() for process in processes]  # type: ignore[union-attr]
    assert said[0] == said[1] != ""
    grown = [int(process.communicate("\n")[0]) for process in processes]
    assert psutil.Process().is_running()
    assert size > 10_000_000
    # The second to end has nobody to share with any more; the first one had.
    assert min(grown) < 2_000_000 < size
