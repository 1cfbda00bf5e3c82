"""Attributes that are computed when they are first read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:  # noqa: N801
        """`functools.cached_property` of Python 3.12, without the lock of Python 3.11.

        All objects of a class share that lock. A process that is forked while another thread holds
        it would wait for ever.
        """

        def __init__(self, compute: Callable[[Any], Any]) -> None:
            """Stores the function that computes the value."""
            self._compute, self.__doc__ = compute, compute.__doc__

        def __get__(self, owner: Any, kind: type | None = None) -> Any:
            """Returns the value, and keeps it in the object under the name of the function."""
            if owner is None:
                return self
            value = owner.__dict__[self._compute.__name__] = self._compute(owner)
            return value


__all__ = ["cached_property"]
