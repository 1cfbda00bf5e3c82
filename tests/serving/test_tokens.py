"""The file of named tokens: hashes alone, read whole or refused."""

from __future__ import annotations

import stat
from pathlib import Path

import msgspec
import pytest

from fascicle.cli import main
from fascicle.errors import InputError, OutputError, UsageError
from fascicle.serving import tokens
from fascicle.serving.tokens import add_token, read_tokens, withdraw_token
from fascicle.settings.serving import NamedToken, ServeSettings, hash_token


def test_a_token_is_shown_once_and_kept_as_its_hash(tmp_path: Path) -> None:
    place = tmp_path / "tokens.json"
    made = {name: add_token(place, name, "reviewer") for name in ("Ada", "Bob B.")}
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    content = place.read_text(encoding="utf-8")
    assert not any(token in content for token in made.values())
    assert {one.name: one.hash for one in read_tokens(place)} == {
        name: hash_token(one) for name, one in made.items()
    }
    assert len(set(made.values())) == 2
    assert all(len(one) == 64 for one in made.values())


def test_a_service_for_curators_says_what_lets_browsers_open_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_token(tmp_path / "tokens.json", "Ada")
    given = [
        "serve",
        "--curation",
        str(tmp_path / "decisions.sqlite"),
        "--tokens",
        str(tmp_path / "tokens.json"),
    ]
    for more in ([], ["--open-page"], ["--no-page"]):
        assert main([*given, *more]) == 2  # there is nothing to serve
        assert ("add --open-page" in capsys.readouterr().err) == (not more)


def test_a_change_beside_another_is_refused_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "tokens.json"
    add_token(place, "Ada")
    write = tokens._write

    def write_late(path: Path, made: tuple[NamedToken, ...]) -> None:
        for one in (lambda: add_token(place, "Cy"), lambda: withdraw_token(place, "Ada")):
            with pytest.raises(OutputError, match="another command"):
                one()
        write(path, made)

    monkeypatch.setattr(tokens, "_write", write_late)
    add_token(place, "Ben")
    monkeypatch.undo()
    assert [one.name for one in read_tokens(place)] == ["Ada", "Ben"]
    add_token(place, "Cy")
    assert [one.name for one in withdraw_token(place, "Ada")] == ["Ben", "Cy"]


def test_names_are_unique_and_plain(tmp_path: Path) -> None:
    place = tmp_path / "tokens.json"
    add_token(place, "Ada")
    for name in ("Ada", "", " Ada", "a\nb", "a/b", "x" * 101):
        with pytest.raises(UsageError):
            add_token(place, name)
    withdraw_token(place, "Ada")
    with pytest.raises(UsageError, match="nobody"):
        withdraw_token(place, "Ada")
    assert read_tokens(place) == ()


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"tokens": [{"name": "a", "role": "king"}]}', b"\xff"]
)
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "tokens.json"
    place.write_bytes(content)
    for does in (
        read_tokens,
        lambda path: add_token(path, "Ada"),
        lambda path: withdraw_token(path, "Ada"),
    ):
        with pytest.raises(InputError):
            does(place)
    assert place.read_bytes() == content


def test_each_role_may_do_what_the_one_before_may() -> None:
    order = ("curator", "reviewer", "administrator")
    for at, role in enumerate(order):
        assert [NamedToken(name="x", role=role).may(one) for one in order] == [
            n <= at for n in range(3)
        ]


def test_a_service_whose_tokens_are_all_withdrawn_stays_closed() -> None:
    assert ServeSettings(tokens=()).guarded
    assert not ServeSettings().guarded


@pytest.mark.parametrize(
    "one",
    [
        {"name": "", "hash": "0" * 64, "role": "curator"},
        {"hash": "0" * 64},
        {"name": "a\tb", "hash": "0" * 64},
        {"name": "Ada"},
        {"name": "Ada", "hash": "é" * 64},
        {"name": "Ada", "hash": "a secret"},
    ],
)
def test_a_token_that_was_not_made_by_the_command_is_refused(
    tmp_path: Path, one: dict[str, str]
) -> None:
    place = tmp_path / "tokens.json"
    place.write_bytes(msgspec.json.encode({"tokens": [one]}))
    with pytest.raises(InputError):
        read_tokens(place)


def test_a_token_without_a_role_has_the_least(tmp_path: Path) -> None:
    place = tmp_path / "tokens.json"
    place.write_bytes(msgspec.json.encode({"tokens": [{"name": "Ada", "hash": "0" * 64}]}))
    (one,) = read_tokens(place)
    assert one.may("curator")
    assert not one.may("reviewer")
