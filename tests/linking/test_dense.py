"""Names that are found by vectors: the product against one in float64, and linkers with a tiny
encoder.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tests.support.linking import build_pack, corpus, document

from fascicle.core.document import Document
from fascicle.errors import FascicleError, PackError, UsageError
from fascicle.linking import encoding, finding
from fascicle.linking.decisions import Decision
from fascicle.linking.dense import (
    GRAPH,
    MANIFEST,
    TOKENIZER,
    VECTORS,
    DenseIndex,
    DenseSettings,
    check_size,
    plan_names,
)
from fascicle.linking.encoding import WIDEST, NameEncoder, largest
from fascicle.linking.features import OF_DENSE
from fascicle.linking.fitting import FitSettings
from fascicle.linking.folder import Ranker
from fascicle.linking.linker import Linker
from fascicle.linking.opening import find
from fascicle.terms.pack.pack import Pack
from fascicle.verbs.linker import fit_folder

Rows = list[tuple[int, float]]


def unit(table: np.ndarray) -> np.ndarray:
    return table / np.maximum(np.linalg.norm(table.astype(np.float64), axis=1, keepdims=True), 1e-6)


def oracle(vectors: np.ndarray, asked: np.ndarray, most: int, least: float) -> list[Rows]:
    products = asked.astype(np.float64) @ vectors.astype(np.float64).T
    return [
        sorted(
            ((row, value) for row, value in enumerate(own) if value >= least),
            key=lambda one: (-one[1], one[0]),
        )[:most]
        for own in products.tolist()
    ]


@pytest.fixture
def small_blocks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "_BLOCK", 7)
        patch.setattr(encoding, "_TOGETHER", 3)
        yield


@pytest.mark.parametrize("least", [-1.0, 0.1, 0.3])
@pytest.mark.usefixtures("small_blocks")
def test_the_largest_products_are_those_of_float64(least: float) -> None:
    random = np.random.default_rng(1)
    vectors = unit(random.normal(size=(300, 48))).astype(np.float16)
    asked = unit(random.normal(size=(11, 48))).astype(np.float32)
    found = largest(vectors, asked, most=10, least=least)
    for own, wanted in zip(found, oracle(vectors, asked, 10, least), strict=True):
        assert own.rows.tolist() == [row for row, _ in wanted]
        assert own.values.tolist() == pytest.approx([value for _, value in wanted], abs=1e-12)
    for at in range(len(asked)):
        (alone,) = largest(vectors, asked[at : at + 1], most=10, least=least)
        assert alone.rows.tolist() == found[at].rows.tolist()
        assert alone.values.tolist() == found[at].values.tolist()


@given(
    arrays.arrays(np.int8, st.tuples(st.integers(0, 40), st.just(2)), elements=st.integers(-1, 1)),
    st.integers(1, 6),
    st.floats(-1.0, 1.0),
)
def test_of_ties_the_first_rows_are_found(table: np.ndarray, most: int, least: float) -> None:
    vectors, asked = (
        unit(table).astype(np.float16),
        np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "_BLOCK", 8)
        found = largest(vectors, asked, most=most, least=least)
    assert [own.rows.tolist() for own in found] == [
        [row for row, _ in own] for own in oracle(vectors, asked, most, least)
    ]


def test_vectors_that_are_too_wide_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=str(WIDEST)):
        largest(
            np.zeros((1, WIDEST + 1), np.float16),
            np.zeros((1, WIDEST + 1), np.float32),
            most=1,
            least=0.0,
        )
    assert check_size(1000, 100, tmp_path, gigabytes=0.0002) == 200_000
    with pytest.raises(UsageError, match=r"1,001 names.*GB"):
        check_size(1001, 100, tmp_path, gigabytes=0.0002)
    with pytest.raises(UsageError, match="left"):
        check_size(10**12, 100, tmp_path, gigabytes=1e6)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    """A pack, and linkers that find all names that are similar at all."""
    place = tmp_path_factory.mktemp("dense")
    build_pack(place / "pack")
    dense = DenseSettings(encoder=str(tiny_encoder), most=3, least=0.1)
    fit_folder(place / "pack", place / "linker", settings=FitSettings(dense=dense))
    return place


@pytest.fixture
def changed(home: Path, tmp_path: Path) -> Path:
    """A copy, to be damaged."""
    shutil.copytree(home, tmp_path / "home")
    return tmp_path / "home" / "linker"


def opened(folder: Path) -> Linker:
    (part,) = find(folder).parts
    return Linker.open(*part)


def decisions(linker: Linker, *documents: Document) -> list[list[Decision]]:
    return linker.decisions(documents, [one.mentions for one in documents])


MISSED = document(
    "With lung pain and liver fever here.",
    ("lung pain", "Disease", ""),
    ("liver fever", "Gene", ""),
)
FOUND = document("With breast cancer here.", ("breast cancer", "Disease", ""))


def test_every_name_of_a_type_has_the_vector_of_its_encoder(home: Path) -> None:
    pack = Pack.open(home / "pack")
    index = DenseIndex.open(home / "linker", pack)
    plan = plan_names(pack, ())
    names = pack.active.surfaces.take(plan.surfaces)
    kinds = [kind for kind, count in plan.types.items() for _ in range(count)]
    pairs = {
        (pack.types[pack.type_rows[concept]], pack.active.surfaces[surface])
        for concept, surface in zip(
            pack.active.concept.tolist(), pack.active.surface.tolist(), strict=True
        )
    }
    assert sorted(zip(kinds, names, strict=True)) == sorted(pairs)
    encoder = NameEncoder.open(
        home / "linker" / GRAPH, home / "linker" / TOKENIZER, pad=index.manifest.pad, threads=1
    )
    vectors = np.fromfile(home / "linker" / VECTORS, dtype="<f2").reshape(len(names), -1)
    alone = encoder.alone(names)
    assert np.linalg.norm(alone, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert vectors == pytest.approx(alone, abs=2e-3)
    asked = ["lung pain", "fever"]
    for kind in plan.types:
        own = np.array([one == kind for one in kinds])
        rows = np.flatnonzero(own)
        for name, found in zip(asked, index.near(asked, kind), strict=True):
            wanted = oracle(vectors[own], encoder.alone([name]), 3, 0.1)[0]
            terms = [
                (term, value)
                for row, value in wanted
                for term in plan.terms[plan.starts[rows[row]] : plan.starts[rows[row] + 1]].tolist()
            ]
            assert [term for term, _ in found] == [term for term, _ in terms]
            assert [value for _, value in found] == pytest.approx(
                [min(value, 1.0) for _, value in terms]
            )


def test_an_encoder_reads_as_the_network_does(home: Path, tiny_encoder: Path) -> None:
    transformers = pytest.importorskip("transformers")
    import torch

    index = DenseIndex.open(home / "linker", Pack.open(home / "pack"))
    encoder = NameEncoder.open(
        home / "linker" / GRAPH, home / "linker" / TOKENIZER, pad=index.manifest.pad
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_encoder)
    network = transformers.AutoModel.from_pretrained(tiny_encoder).eval()
    names = ["lung pain", "aspirin caused hepatitis", " ".join(["fever"] * 100)]
    for name, found in zip(names, encoder.together(names), strict=True):
        read = tokenizer(name, truncation=True, max_length=64, return_tensors="pt")
        with torch.inference_mode():
            states = network(
                input_ids=read["input_ids"], attention_mask=read["attention_mask"]
            ).last_hidden_state[0]
        mean = states.numpy().astype(np.float64).mean(axis=0)
        assert found == pytest.approx(mean / np.linalg.norm(mean), abs=1e-4)


def test_mentions_without_a_similar_name_get_candidates(home: Path) -> None:
    linker = opened(home / "linker")
    (missed,), (found,) = decisions(linker, MISSED)[0][:1], decisions(linker, FOUND)[0]
    assert missed.candidates
    assert {one.tier for one in missed.candidates} == {"dense"}
    values = [one.features[OF_DENSE[0]] for one in missed.candidates]
    assert values == [1.0] * len(values)
    similar = [one.features[OF_DENSE[1]] for one in missed.candidates]
    assert similar == sorted(similar, reverse=True)
    assert all("similarity" not in one.features for one in missed.candidates)
    assert [one.tier for one in found.candidates] == ["exact"]


def test_candidates_do_not_depend_on_what_is_beside_them(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [MISSED, FOUND, document("A fever of mice", ("fever of mice", "Disease", ""))]
    together = decisions(opened(home / "linker"), *asked)
    linker = opened(home / "linker")
    assert [decisions(linker, one)[0] for one in reversed(asked)] == together[::-1]
    monkeypatch.setattr(finding, "_REMEMBERED", 1)
    assert decisions(opened(home / "linker"), *asked) == together


def test_what_was_missed_is_remembered(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linker = opened(home / "linker")
    first = decisions(linker, MISSED)

    def refuse(self: NameEncoder, names: list[str]) -> None:
        raise AssertionError(names)

    monkeypatch.setattr(NameEncoder, "together", refuse)
    assert decisions(linker, MISSED) == first


def test_long_mentions_and_other_types_find_nothing(home: Path) -> None:
    index = DenseIndex.open(home / "linker", Pack.open(home / "pack"))
    assert index.near(["", "x" * 201], "Disease") == [(), ()]
    assert index.near(["lung"], "Species") == [()]
    assert index.near([], "Disease") == []


def test_types_and_similarity_are_settings(home: Path, tmp_path: Path, tiny_encoder: Path) -> None:
    dense = DenseSettings(encoder=str(tiny_encoder), types=("Gene",), least=0.1, below=1.0)
    fit_folder(home / "pack", tmp_path / "linker", settings=FitSettings(dense=dense))
    linker = opened(tmp_path / "linker")
    disease, gene = decisions(linker, MISSED)[0]
    assert (len(disease.candidates), len(gene.candidates) > 0) == (0, True)
    near = document("With telomerasse here.", ("telomerasse", "Gene", ""))
    assert (
        {"near", "dense"}
        >= {one.tier for one in decisions(linker, near)[0][0].candidates}
        >= {"dense"}
    )
    with pytest.raises(UsageError, match="Disease, Gene"):
        fit_folder(
            home / "pack",
            tmp_path / "other",
            settings=FitSettings(dense=msgspec.structs.replace(dense, types=("Plant",))),
        )
    with pytest.raises(UsageError, match="GB"):
        fit_folder(
            home / "pack",
            tmp_path / "other",
            settings=FitSettings(dense=msgspec.structs.replace(dense, gigabytes=1e-9)),
        )
    assert not (tmp_path / "other").exists()


def test_a_ranker_weighs_vectors_and_the_index_is_taken_over(home: Path, tmp_path: Path) -> None:
    fit_folder(home / "pack", tmp_path / "linker", documents=corpus(), index_of=home / "linker")
    for name in (MANIFEST, VECTORS, GRAPH):
        assert (tmp_path / "linker" / name).read_bytes() == (home / "linker" / name).read_bytes()
    linker = opened(tmp_path / "linker")
    assert set(OF_DENSE) <= set(linker.rankers["Disease"].weights)
    found = decisions(linker, MISSED)[0][0]
    assert all(one.probability is not None for one in found.candidates)
    fit_folder(home / "pack", tmp_path / "plain", documents=corpus())
    plain = opened(tmp_path / "plain")
    assert not set(OF_DENSE) & set(plain.rankers["Disease"].weights)
    assert plain.fingerprint != linker.fingerprint
    weights = plain.rankers["Disease"].weights
    with pytest.raises(ValueError, match="release"):
        Ranker(vocabularies=("MESH",), weights={**weights, "other": 0.0})


@pytest.mark.parametrize("name", [GRAPH, TOKENIZER])
def test_another_encoder_is_refused(changed: Path, name: str) -> None:
    content = (changed / name).read_bytes()
    (changed / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    linker = opened(changed)
    assert decisions(linker, FOUND)[0][0].answer  # which needs no encoder
    with pytest.raises(PackError, match="vectors of names were made with"):
        decisions(linker, MISSED)


@pytest.mark.parametrize(
    "name", [GRAPH, TOKENIZER, VECTORS, "dense.starts.u4", "dense.terms.u4", MANIFEST]
)
def test_missing_and_cut_files_are_refused(changed: Path, name: str) -> None:
    content = (changed / name).read_bytes()
    (changed / name).write_bytes(content[:-2])
    with pytest.raises(PackError, match=name):
        opened(changed)
    (changed / name).unlink()
    with pytest.raises(FascicleError, match=name):
        opened(changed)
