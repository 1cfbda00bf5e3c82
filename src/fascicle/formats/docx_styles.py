"""Elements of documents of Word, and the properties that their styles have, as ECMA-376, part 1,
describes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def local_tag(element: Any) -> str:
    """Returns the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def attribute(element: Any, name: str) -> str:
    """Returns an attribute, whatever its namespace; empty if an element is not there or has
    none.
    """
    if element is not None:
        for key, value in element.attrib.items():
            if key.rpartition("}")[2] == name:
                return str(value)
    return ""


def first_child(element: Any, name: str) -> Any:
    """Returns the first child of an element if it has this name; None otherwise."""
    first = next(iter(element), None)
    return first if first is not None and local_tag(first) == name else None


def properties(element: Any) -> dict[str, Any]:
    """Returns the elements that describe a run, a paragraph or a part of a formula, by their
    names.
    """
    return {} if element is None else {local_tag(child): child for child in element}


def is_on(has: Mapping[str, Any], name: str) -> bool:
    """True if a property is there, and not switched off."""
    return name in has and attribute(has[name], "val") not in ("0", "false", "off")


class Styles:
    """Properties of runs by the ids of styles, with those of the styles that they are based on."""

    def __init__(self, root: Any) -> None:
        """Keeps the styles of a part; None stands for none."""
        self._styles = {
            attribute(style, "styleId"): style
            for style in ([] if root is None else root.iter("{*}style"))
        }
        self._runs: dict[str, Mapping[str, Any]] = {"": {}}

    def name(self, style: str) -> str:
        """Returns the name of a style, which no language changes; the id if it has none."""
        element = self._styles.get(style)
        return (attribute(element.find("{*}name"), "val") if element is not None else "") or style

    def number(self, style: str) -> Any:
        """Returns the number of the list to which paragraphs of a style belong; None if they
        belong to none.
        """
        element = self._styles.get(style)
        return None if element is None else element.find("{*}pPr/{*}numPr/{*}numId")

    def run(self, style: str) -> Mapping[str, Any]:
        """Returns the properties of runs by their names."""
        if style not in self._runs:
            self._runs[style] = {}  # of a style that is based on itself
            element = self._styles.get(style)
            if element is not None:
                base = self.run(attribute(element.find("{*}basedOn"), "val"))
                self._runs[style] = {**base, **properties(element.find("{*}rPr"))}
        return self._runs[style]
