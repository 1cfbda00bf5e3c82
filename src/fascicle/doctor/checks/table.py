"""The table of all checks: a new one is a function over documents, and an entry in one of the tuples joined here.

`docs/corpus-check-findings.md` shows each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from fascicle.doctor.checks.annotation import MENTIONS, READING
from fascicle.doctor.checks.contract import Check
from fascicle.doctor.checks.corpus import COPIES, PARTS, STRINGS, TEXTS

CHECKS: Final[Mapping[str, Check]] = MappingProxyType(
    {check.code: check for check in (*READING, *MENTIONS, *STRINGS, *PARTS, *COPIES, *TEXTS)}
)
