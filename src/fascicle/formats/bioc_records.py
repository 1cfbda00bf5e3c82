"""Records of BioC, as its files have them."""

from __future__ import annotations

from typing import Any

import msgspec


class Location(msgspec.Struct):
    """Location of an annotation or of a part of it, in the units of the file."""

    offset: int
    length: int


class Annotation(msgspec.Struct, omit_defaults=False, kw_only=True):
    """Annotation of a passage or a sentence."""

    id: str | int | None = None
    infons: dict[str, Any] = {}
    text: str | None = None
    locations: list[Location] = []


class Sentence(msgspec.Struct, kw_only=True):
    """Sentence of a passage; its text and annotations are separate from those of the passage."""

    offset: int = 0
    infons: dict[str, Any] = {}
    text: str | None = None
    annotations: list[Annotation] = []
    relations: list[Any] = []


class Passage(Sentence, kw_only=True):
    """Passage of a document: it has a text, or sentences."""

    sentences: list[Sentence] = []


class Entry(msgspec.Struct, kw_only=True):
    """Document as BioC represents it."""

    id: str | int | None = None
    infons: dict[str, Any] = {}
    passages: list[Passage] = []
    annotations: list[Annotation] = []
    relations: list[Any] = []
