"""A limit on the size of files, as a full disk is one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def room(size: int) -> Iterator[None]:
    """Lets no file of this process grow beyond a number of bytes.

    No bytecode is written meanwhile: Python takes a part that was written for the whole, so that
    later processes cannot import the module.

    Args:
        size: in bytes.
    """
    resource = pytest.importorskip("resource")
    before, bytecode = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = bytecode
