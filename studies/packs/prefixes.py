"""Makes the table of prefixes and addresses of vocabularies from the data of the Bioregistry, which
are CC0.

usage: python -m studies.packs.prefixes

Needs the package ``bioregistry``. Written: ``src/fascicle/terms/registry.tsv``.
"""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any, Final

from studies.common import ROOT

TABLE: Final = ROOT / "src" / "fascicle" / "terms" / "registry.tsv"
# Addresses that one rule reads for all vocabularies, where the prefix is a spelling of theirs.
_SEVERAL: Final = re.compile(r"(?:identifiers\.org|bioregistry\.io|n2t\.net)/([^/:#]+)[:/]\$1")
_VIEWS: Final = re.compile(r"(www\.)?ebi\.ac\.uk/ols4?/")
_REGISTRIES: Final = frozenset({"obo", "bioregistry", "miriam"})  # of vocabularies, not of concepts
# a page of NCBI Gene, given to HomoloGene
_WRONG: Final = frozenset({"ncbi.nlm.nih.gov/datasets/gene/$1/"})
_NO_WORDS: Final = frozenset("\t,")


def main() -> None:
    """Writes the table."""
    import bioregistry

    entries: dict[str, Any] = bioregistry.read_registry()
    lines = [
        "# Each row, cut by tabs: the one spelling of a prefix, others by commas, what local "
        "identifiers look like,",
        "# beginnings of addresses by blanks, with $1 where something stands behind the local "
        "identifier.",
        f"# Made from the Bioregistry {version('bioregistry')} (CC0-1.0, bioregistry.io): "
        "python -m studies.packs.prefixes",
    ]
    for prefix, entry in sorted(entries.items()):
        name = _name(entry, bioregistry.normalize_prefix)
        meant = {
            one for one in _spellings(prefix, entry) if bioregistry.normalize_prefix(one) == prefix
        }
        others = sorted(meant - {name})
        addresses = (
            sorted(_addresses(entry, {one.lower() for one in meant}))
            if prefix not in _REGISTRIES
            else []
        )
        pattern = (entry.get_pattern() or "").removeprefix("^").removesuffix("$")
        lines.append("\t".join((name, ", ".join(others), pattern, " ".join(addresses))))
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _name(entry: Any, normalise: Any) -> str:
    """The preferred spelling of a prefix, unless it means another vocabulary."""
    preferred = (
        (entry.obofoundry or {}).get("preferred_prefix"),
        entry.get_preferred_prefix(),
        entry.prefix,
    )
    return next(str(one) for one in preferred if one and normalise(one) == entry.prefix)


def _spellings(prefix: str, entry: Any) -> set[str]:
    preferred = (
        entry.get_preferred_prefix(),
        (entry.obofoundry or {}).get("preferred_prefix"),
        prefix,
    )
    return {one for one in (*entry.get_synonyms(), *preferred) if one and not set(one) & _NO_WORDS}


def _addresses(entry: Any, spellings: set[str]) -> set[str]:
    """The beginnings of addresses, without the scheme and ``www.``."""
    formats = {
        one.partition("://")[2].removeprefix("www.")
        for one in entry.get_uri_formats()
        if "://" in one
    }
    ruled = {
        one
        for one in formats
        if (found := _SEVERAL.fullmatch(one)) and found[1].lower() in spellings
    }
    usable = {
        one
        for one in formats - ruled - _WRONG
        if one.count("$1") == 1 and " " not in one and not _VIEWS.match(one)
    }
    return {one.removesuffix("$1") for one in usable if not one.startswith("$1")}


if __name__ == "__main__":
    main()
