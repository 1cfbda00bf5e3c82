"""What stands for a type: texts as an encoder reads them, and their vectors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

torch = pytest.importorskip("torch")

from fascicle.errors import RecipeError  # noqa: E402
from fascicle.models.encoder import Pretrained, load_pretrained  # noqa: E402
from fascicle.models.heads.binder import AtomicTypes, TypeEncoder, make_types, tokenise_type_texts  # noqa: E402
from fascicle.models.heads.contract import Basis  # noqa: E402
from fascicle.settings.heads import FEWEST_INSTANCES, BinderSettings  # noqa: E402
from fascicle.settings.types import parse_types, read_types  # noqa: E402
from fascicle.text.pieces import PieceTokenizer  # noqa: E402

NAMES = ("Chemical", "Disease")
_WORDS = (
    "the a of in and with has had was is no patient doctor lung liver heart cancer pain "
    "fever failure"
)


@pytest.fixture(scope="module")
def pretrained(tiny_encoder: Path) -> Pretrained:
    found = load_pretrained(str(tiny_encoder))
    found.encoder.eval()
    return found


def settings(view: str = "description", **others: Any) -> BinderSettings:
    needed = {} if view in ("name", "atomic") else {"types": "toy.toml"}
    return BinderSettings(type_view=view, **needed, **others)  # type: ignore[arg-type]


@pytest.fixture
def basis(pretrained: Pretrained, toy_types: Path) -> Any:
    def make(content: list[dict[str, Any]] | None = None, types: tuple[str, ...] = NAMES) -> Basis:
        described = (
            read_types(toy_types)
            if content is None
            else parse_types({"type": content}, origin="t.toml")
        )
        return Basis(
            types=types,
            width=pretrained.encoder.width,
            encoder=pretrained.encoder,
            tokenizer=pretrained.tokenizer,
            descriptions=described,
        )

    return make


def pieces(pretrained: Pretrained, text: str) -> list[int]:
    ((ids, _),) = pretrained.tokenizer.encode([text])
    return [*pretrained.tokenizer.prefix, *ids.tolist(), *pretrained.tokenizer.suffix]


@pytest.mark.parametrize("view", ["name", "keyword", "description"])
def test_one_text_a_type_with_special_tokens_and_padding(
    pretrained: Pretrained, basis: Any, view: str
) -> None:
    texts = tokenise_type_texts(settings(view), basis())
    described = basis().descriptions
    written = {
        "name": NAMES,
        "keyword": described.texts("keyword"),
        "description": described.texts("guideline"),
    }[view]
    expected = [pieces(pretrained, text) for text in written]
    assert [
        row[: sum(mask)].tolist() for row, mask in zip(texts.ids, texts.mask, strict=True)
    ] == expected
    assert texts.mask.sum(axis=1).tolist() == [len(row) for row in expected]
    assert (texts.ids[texts.mask == 0] == pretrained.tokenizer.pad).all()
    assert texts.counts.tolist() == [1, 1]
    assert texts.place.tolist() == [0, 0]
    assert texts.at_rest == 1


def test_underscores_of_names_are_blanks(pretrained: Pretrained, basis: Any) -> None:
    texts = tokenise_type_texts(settings("name"), basis(types=("lung_cancer", "pain")))
    assert texts.ids[0].tolist() == pieces(pretrained, "lung cancer")


def test_the_place_of_an_instance_is_that_of_its_first_mark(
    pretrained: Pretrained, basis: Any
) -> None:
    texts = tokenise_type_texts(settings("instances"), basis())
    assert texts.counts.tolist() == [4, 3]
    assert texts.at_rest == FEWEST_INSTANCES == 3
    (opening,), (closing,) = (pretrained.tokenizer.encode([mark])[0][0].tolist() for mark in "[]")
    unknown = pretrained.tokenizer.unknown
    assert unknown not in (opening, closing)
    for row, place in zip(texts.ids.tolist(), texts.place.tolist(), strict=True):
        assert row[place] == opening
        assert (row.count(opening), row.count(closing)) == (1, 1)
        assert place + 1 < row.index(closing)
    assert texts.ids[2, : texts.mask[2].sum()].tolist() == pieces(pretrained, "( [ caffeine ] )")


def described(**changes: Any) -> list[dict[str, Any]]:
    return [
        {"name": "Chemical", "description": "a drug", "keyword": "drug", **changes},
        {"name": "Disease", "description": "a cancer", "keyword": "cancer"},
    ]


@pytest.mark.parametrize(
    ("view", "content", "said"),
    [
        (
            "description",
            described(description="a drug " * 40),
            "the description of 'Chemical' has 82 pieces",
        ),
        ("keyword", described(keyword=""), "no keyword for 'Chemical'"),
        (
            "keyword",
            described(keyword="Cancer\u0301"),
            "the keyword of 'Chemical' and the keyword of 'Disease' are",
        ),
        ("instances", described(), "no 3 examples for 'Chemical', 'Disease'"),
    ],
)
def test_texts_that_cannot_be_read_are_refused(
    basis: Any, view: str, content: Any, said: str
) -> None:
    with pytest.raises(RecipeError, match=said) as caught:
        tokenise_type_texts(settings(view), basis(content))
    assert "\n" not in str(caught.value)


def test_a_mark_that_the_tokenizer_drops_is_refused(basis: Any) -> None:
    bare = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    bare.normalizer, bare.pre_tokenizer = normalizers.Replace("[", ""), pre_tokenizers.Whitespace()
    with pytest.raises(
        RecipeError,
        match=r"drops the mark \[ in an example of 'Chemical': choose another type_view",
    ):
        tokenise_type_texts(settings("instances"), replace(basis(), tokenizer=PieceTokenizer(bare)))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("_", "pain"), "the name of the type '_' has nothing that .* reads: write it in words"),
        (("the qqq", "the xxx"), "could not tell the types apart"),
        (
            ("pain", "qqq ( xxx )"),
            r"^the name of the type 'qqq \( xxx \)' has no word that \S+ knows: say it in",
        ),
    ],
)
def test_names_that_tell_nothing_are_refused(basis: Any, names: tuple[str, ...], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        tokenise_type_texts(settings("name"), basis(types=names))


def test_a_text_of_unknown_words_alone_is_refused(basis: Any) -> None:
    """Signs that the encoder knows, and those around the mention of an example, tell nothing of
    a type.
    """
    tokenise_type_texts(settings("name"), basis(types=("pain", "qqq the")))
    examples = {"examples": ["[[pain]]", "a [[qqq]]", "[[xxx]] qqq"]}
    content = [{**one, **examples} for one in described()]
    content[1]["examples"] = ["[[pain]]", "a [[qqq]]", "the [[xxx]]"]
    with pytest.raises(RecipeError, match=r"^an example of 'Chemical' has no word that "):
        tokenise_type_texts(settings("instances"), basis(content))


@pytest.mark.parametrize("mean", [False, True])
def test_vectors_are_the_states_of_the_encoder(
    pretrained: Pretrained, basis: Any, mean: bool
) -> None:
    types = make_types(settings(type_pool="mean" if mean else "cls"), basis()).eval()
    with torch.no_grad():
        found = types()
        for number, text in enumerate(basis().descriptions.texts("guideline")):
            ids = torch.tensor([pieces(pretrained, text)])
            states = pretrained.encoder(ids, torch.ones_like(ids))[0]
            torch.testing.assert_close(
                found[number], states.mean(0) if mean else states[0], rtol=1e-4, atol=1e-5
            )


def test_at_rest_the_first_three_instances_are_averaged_and_in_training_one_is_drawn(
    pretrained: Pretrained, basis: Any
) -> None:
    types = make_types(settings("instances"), basis())
    assert isinstance(types, TypeEncoder)
    texts = tokenise_type_texts(settings("instances"), basis())
    with torch.no_grad():
        states = pretrained.encoder(torch.from_numpy(texts.ids), torch.from_numpy(texts.mask))
        each = states[torch.arange(7), torch.from_numpy(texts.place)]
        expected = torch.stack([each[0:3].mean(0), each[4:7].mean(0)])
        torch.testing.assert_close(types.eval()(), expected, rtol=1e-4, atol=1e-5)
        types.training = True  # the encoder stays in evaluation mode, so that only the draw differs
        torch.manual_seed(3)
        seen: tuple[set[int], set[int]] = (set(), set())
        for _ in range(60):
            for kind, vector in enumerate(types()):
                near = (each - vector).abs().amax(1) < 1e-4
                assert near.sum() == 1
                seen[kind].add(int(near.nonzero()))
    assert seen == ({0, 1, 2, 3}, {4, 5, 6})


def test_any_number_of_types_is_read_in_parts(pretrained: Pretrained, basis: Any) -> None:
    words = _WORDS.split()
    names = tuple(f"{a} {b}" for a in words for b in words)[:70]
    types = make_types(settings("name"), basis(types=names)).eval()
    with torch.no_grad():
        found = types()
        for number in (0, 31, 32, 63, 64, 69):
            ids = torch.tensor([pieces(pretrained, names[number])])
            expected = pretrained.encoder(ids, torch.ones_like(ids))[0, 0]
            torch.testing.assert_close(found[number], expected, rtol=1e-4, atol=1e-5)
    assert found.shape == (70, 32)


def test_one_text_a_type_needs_no_draw(basis: Any) -> None:
    types = make_types(settings(), basis())
    before = torch.get_rng_state()
    assert isinstance(types, TypeEncoder)
    types._drawn()
    assert torch.equal(before, torch.get_rng_state())


def test_a_shared_encoder_is_no_part_and_one_of_its_own_is_a_copy(
    pretrained: Pretrained, basis: Any
) -> None:
    shared, own = (make_types(settings(type_encoder=kind), basis()) for kind in ("shared", "own"))
    assert list(shared.state_dict()) == []
    assert list(shared.parameters()) == []
    assert isinstance(shared, TypeEncoder)
    assert isinstance(own, TypeEncoder)
    assert shared.encoder is pretrained.encoder
    names = {f"own.{name}" for name in pretrained.encoder.state_dict()}
    assert set(own.state_dict()) == names
    assert own.encoder is not pretrained.encoder
    for name, tensor in pretrained.encoder.state_dict().items():
        copy = own.state_dict()[f"own.{name}"]
        assert torch.equal(copy, tensor)
        assert copy.data_ptr() != tensor.data_ptr()


def test_atomic_types_are_a_table() -> None:
    types = make_types(settings("atomic"), Basis(types=NAMES, width=8))
    assert isinstance(types, AtomicTypes)
    assert types().shape == (2, 8)
    assert types() is types.table


def test_what_only_a_program_can_get_wrong(basis: Any) -> None:
    with pytest.raises(ValueError, match="need an encoder"):
        tokenise_type_texts(settings(), Basis(types=NAMES, width=8))
    with pytest.raises(ValueError, match="not those of the types"):
        tokenise_type_texts(settings(), basis(types=("Disease", "Chemical")))
