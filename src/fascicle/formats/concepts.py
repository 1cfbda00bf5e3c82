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

    named = {name: curies for name, value in attributes if (curies := curies_of_fact(name, value))}
    if not named:
        return links, attributes
    known = {link_text(one) for one in links}
    added = dict.fromkeys(one for curies in named.values() for one in curies if one not in known)
    return (*links, *map(parse_link, added)), tuple(
        one for one in attributes if one[0] not in named
    )
