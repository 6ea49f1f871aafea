"""Options of TensorFlow's runtime that choose nothing here."""

from __future__ import annotations

from types import SimpleNamespace


def unused(name: str) -> type[SimpleNamespace]:
    """A class of options, of which no function asks anything.

    >>> unused("SaveOptions")(function_aliases=None)
    SaveOptions(function_aliases=None)
    """
    text = "Options of TensorFlow's, by keyword, which change nothing here."
    return type(name, (SimpleNamespace,), {"__doc__": text})
