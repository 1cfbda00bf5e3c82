"""Cues of what a text says of a mention: that it is negated, uncertain, hypothetical, historical,
of another person.

The rules that apply them are in `fascicle.text.assertion`. A file of cues is TOML, with a table
``[[cues]]`` for each group and a table ``[ends]``; `CueGroup` and `CueEnds` have their keys.
``assets/lexicon/assertion-en.toml`` ships.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

from msgspec import Meta, field

from fascicle.errors import RecipeError
from fascicle.settings.base import Name, Natural, Settings
from fascicle.settings.folders.vocabularies import assets

Fact = Literal["negated", "uncertain", "hypothetical", "historical", "other-person"]
FACTS: Final[tuple[Fact, ...]] = get_args(Fact)
ENGLISH: Final = "en"
ANY_WORD: Final = "*"
_MARK: Final = "[["


class CueGroup(Settings, frozen=True, kw_only=True):
    """Cues with one meaning and one scope.

    Attributes:
        fact: what the cues say of a mention; empty for words that look like cues and are none.
        words: the cues, as words in any capitals that are separated by blanks; ``*`` is any one
            word.
        side: whether a cue stands ``"before"`` its mentions or ``"after"`` them, is the ``"whole"``
            of a mention, or is a ``"heading"``, which holds for its line, or for the lines below it
            if nothing follows it in the line.
        until: what ends the scope: ``"phrase"``: both lists of `CueEnds`; ``"clause"``: its list
            ``clause``; ``"sentence"``: only the end of the sentence.
        reach: number of words between a cue, or a separator of a list, and the mention.
        lists: whether a cue holds for a list; if not, it holds for the nearest mention alone.
        skips_first: whether a cue holds only behind the first comma, as in "no relapse of gout,
            fever or rash".
        opens: whether the cue opens a clause, which a comma ends if the cue begins the sentence.
        types: of the mentions that the cues hold for; all by default.
        examples: sentences with mentions between ``[[`` and ``]]``, all of which have the fact.
        counterexamples: sentences in which no marked mention has it.
    """

    fact: Fact | Literal[""]
    words: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=1_000)]
    side: Literal["before", "after", "whole", "heading"] = "before"
    until: Literal["phrase", "clause", "sentence"] = "phrase"
    reach: Natural = 6
    lists: bool = True
    skips_first: bool = False
    opens: bool = False
    types: tuple[Name, ...] = ()
    examples: tuple[Name, ...] = ()
    counterexamples: tuple[Name, ...] = ()

    def __post_init__(self) -> None:
        """Refuses examples without a mention, and cues that begin with any word."""
        if loose := [
            cue for cue in self.words if not cue.strip() or cue.lstrip().startswith(ANY_WORD)
        ]:
            raise ValueError(
                f"the cue {loose[0]!r} does not begin with a word; {ANY_WORD} may not be the first"
            )
        for sentence in (*self.examples, *self.counterexamples):
            if _MARK not in sentence:
                raise ValueError(f"the example {sentence!r} has no mention; write one as [[fever]]")


class CueEnds(Settings, frozen=True, kw_only=True):
    """Words that end the scope of cues.

    Attributes:
        clause: words and punctuation that end a clause.
        phrase: words that end a phrase.
        verbs: words behind a mention which show that it begins a clause, if a comma and none of the
            ``alternatives`` is before it; the scope of a cue with ``until = "phrase"`` ends at this
            comma.
        participles: words of a clause behind a comma, at which the scope of a cue with
            ``lists = false`` ends.
        alternatives: words of lists, such as "or".
        separators: words and punctuation between the parts of a list, for each of which a cue
            reaches anew.
    """

    clause: tuple[Name, ...] = ()
    phrase: tuple[Name, ...] = ()
    verbs: tuple[Name, ...] = ()
    participles: tuple[Name, ...] = ()
    alternatives: tuple[Name, ...] = ()
    separators: tuple[Name, ...] = ()


class Cues(Settings, frozen=True, kw_only=True):
    """All cues of a language.

    Attributes:
        extends: ``"en"``: the file adds to the shipped cues for English; its own cues come first.
        cues: groups; of cues that begin at one word the longest counts, and of equal ones the
            first.
        ends: of scopes.
        types: type of mentions -> facts that are looked for; all for other types.
    """

    extends: Literal["", "en"] = ""
    cues: tuple[CueGroup, ...] = ()
    ends: CueEnds = field(default_factory=CueEnds)
    types: dict[Name, tuple[Fact, ...]] = field(default_factory=dict)


def read_cues(source: str | os.PathLike[str] = ENGLISH) -> Cues:
    """Reads cues.

    Args:
        source: ``"en"`` for the shipped ones, or a TOML file.

    Raises:
        RecipeError: no such file, no TOML, an unknown key, or a value that is not allowed.
    """
    from fascicle.settings.recipes.strict import convert_values, toml_values

    path = (
        Path(source).expanduser()
        if source != ENGLISH
        else assets() / "lexicon" / "assertion-en.toml"
    )
    missing = f"there is no file of cues at {path}; write {ENGLISH} for the shipped ones"
    values = toml_values(
        path, missing=missing, advice="begin each group of cues with a line [[cues]]"
    )
    cues = convert_values(values, Cues, origin=str(path))
    if not (cues.cues or cues.extends or cues.types):
        raise RecipeError(
            "the file has no cues; begin each group of cues with a line [[cues]]", at=str(path)
        )
    return _extended(cues) if cues.extends else cues


def _extended(own: Cues) -> Cues:
    shipped = read_cues()
    ends = {
        name: getattr(own.ends, name) + getattr(shipped.ends, name)
        for name in CueEnds.__struct_fields__
    }
    return Cues(cues=own.cues + shipped.cues, ends=CueEnds(**ends), types=own.types)
