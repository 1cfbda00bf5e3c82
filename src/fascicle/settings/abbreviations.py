"""What the short forms that a document defines change about the mentions of a model."""

from __future__ import annotations

from typing import Literal

from fascicle.settings.base import Settings

Spread = Literal["no", "exact", "end"]


class AbbreviationRules(Settings, frozen=True, kw_only=True):
    """Rules for short forms whose long forms stand in the same document.

    Attributes:
        spread: a short form gets the type of its long form wherever it stands alone. ``"exact"``: if a mention is
            exactly the long form; ``"end"``: if a mention ends with the long form, and is perhaps shorter or longer;
            ``"no"``: never.
        drop: whether mentions that are exactly a short form go if no mention overlaps its long form.
        one_type: whether a string gets, wherever it is a mention, the type that it has most often in the document.
    """

    spread: Spread = "no"
    drop: bool = False
    one_type: bool = False

    @property
    def change(self) -> bool:
        """Whether any of them is on."""
        return self.spread != "no" or self.drop or self.one_type


class AbbreviationDecision(AbbreviationRules, frozen=True, kw_only=True):
    """The rules of a model.

    Attributes:
        chosen_on: sha256 of the data that they were chosen on; empty if they were given.
    """

    chosen_on: str = ""
