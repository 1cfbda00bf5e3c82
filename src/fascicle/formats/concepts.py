"""Attributes of mentions that are identifiers: ``mesh: D001241`` is a link."""

from __future__ import annotations

from fascicle.core.document import Link
from fascicle.core.mention import link_text, parse_link

_Attributes = tuple[tuple[str, str], ...]


def take_concepts(
    links: tuple[Link, ...], attributes: _Attributes
) -> tuple[tuple[Link, ...], _Attributes]:
    """Returns the links and attributes of a mention, with each attribute that names a vocabulary
    among the links.
    """
    from fascicle.terms.terms import curies_of_fact  # late: most mentions have no attributes

    curies_by_name = {
        name: curies for name, value in attributes if (curies := curies_of_fact(name, value))
    }
    if not curies_by_name:
        return links, attributes
    present = {link_text(link) for link in links}
    added = dict.fromkeys(curie for curies in curies_by_name.values() for curie in curies)
    return (
        (*links, *(parse_link(curie) for curie in added if curie not in present)),
        tuple(pair for pair in attributes if pair[0] not in curies_by_name),
    )
