"""The version of this package, for every room to name."""

from typing import Final

VERSION: Final = "0.1.0"
