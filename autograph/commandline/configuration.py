"""``[tool.autograph]`` of the nearest ``pyproject.toml``, for ``autograph check``.

[tool.autograph]
select = ["AG1"]          # the codes to report, or how they begin
ignore = ["AG106"]        # of these, not
skip = ["tests/data/*"]   # files, as seen from the pyproject.toml
"""

from __future__ import annotations

import os
import sys
from fnmatch import fnmatch
from typing import Any, NamedTuple

from ..diagnostics import Diagnostic, Location
from ..errors import TargetError

_TABLE = "[tool.autograph]"
_KEYS = ("ignore", "select", "skip")


class Configuration(NamedTuple):
    """What the file says, and where it is; without a file nothing is said."""

    folder: str = ""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()

    def skips(self, path: str) -> bool:
        """Whether a file is left out, itself or by a folder around it."""
        if not self.skip:
            return False
        parts = os.path.relpath(path, self.folder).replace(os.sep, "/").split("/")
        heads = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
        patterns = [pattern.rstrip("/") for pattern in self.skip]
        return any(fnmatch(head, pattern) for head in heads for pattern in patterns)


def nearest_configuration(path: str) -> Configuration:
    """The configuration for a path: of its folder, or of the next one above that has
    a ``pyproject.toml``.

    Raises:
        TargetError: AG405, the file cannot be read, or says something else.
    """
    folder = os.path.abspath(path)
    while not os.path.isfile(file := os.path.join(folder, "pyproject.toml")):
        above = os.path.dirname(folder)
        if above == folder:
            return Configuration()
        folder = above
    return _read(file)


def _read(file: str) -> Configuration:
    try:
        with open(file, "rb") as stream:
            data = stream.read()
        if b"autograph" not in data:
            return Configuration()
        table = _parsed(data.decode("utf-8")).get("tool", {}).get("autograph", {})
    except (OSError, ValueError, AttributeError) as error:
        raise _wrong(file, str(error)) from error
    if not isinstance(table, dict):
        raise _wrong(file, "`tool.autograph` is no table")
    for key, value in table.items():
        if key not in _KEYS:
            raise _wrong(file, f"`{key}` is not known in {_TABLE}", ", ".join(_KEYS))
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise _wrong(file, f"`{key}` in {_TABLE} is no list of strings")
    given = {key: tuple(value) for key, value in table.items()}
    return Configuration(os.path.dirname(file), **given)


def _parsed(text: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        try:
            import tomli as tomllib
        except ImportError:
            advice = f"Python 3.10 reads {_TABLE} with tomli: `pip install tomli`"
            raise ValueError(advice) from None
    return tomllib.loads(text)


def _wrong(file: str, why: str, known: str = "") -> TargetError:
    fix = f"the keys are {known}" if known else ""
    location = Location(file, 1)
    title = "the configuration cannot be read"
    return TargetError(Diagnostic("AG405", title, why, location, fix, source=""))
