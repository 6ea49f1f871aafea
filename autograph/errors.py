"""The exceptions of the compiler.

Every error carries one or more located `Diagnostic` records; ``str(error)`` is what a
person needs to read. The codes are explained in ``docs/errors.md``: ``AG1xx`` source
and conversion, ``AG2xx`` staging, ``AG3xx`` values, ``AG4xx`` the command line.
"""

from __future__ import annotations

from collections.abc import Callable

from .diagnostics import Diagnostic

_listeners: list[Callable[[AutographError], None]] = []


def listen(listener: Callable[[AutographError], None]) -> None:
    """Have each error told to ``listener``.

    For a tensor library that wants to know what a program it traces swallows.
    """
    _listeners.append(listener)


class AutographError(Exception):
    """The base of all errors of this package.

    >>> error = AutographError(Diagnostic("AG102", "no source", "it is a builtin"))
    >>> error.code
    'AG102'
    >>> print(error)
    AG102 no source
      why: it is a builtin
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        if not diagnostics:
            raise ValueError("an AutographError needs at least one Diagnostic")
        super().__init__(*diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = diagnostics
        for listener in _listeners:
            listener(self)

    @property
    def code(self) -> str:
        """The code of the first diagnostic, such as ``AG101``."""
        return self.diagnostics[0].code

    def __str__(self) -> str:
        return "\n".join(map(str, self.diagnostics))


class SourceError(AutographError):
    """The source could not be had: missing, not Python, or the target is not in it."""


class TargetError(SourceError):
    """A file, module or function was named that is not there."""


class ConversionError(AutographError):
    """The source is valid Python that cannot be converted; the message says why."""


class StagingError(AutographError):
    """A converted program could not be staged by the tensor library in use."""


class VerificationError(AutographError, AssertionError):
    """A function runs differently in another way: see `autograph.verify`."""


class AutographWarning(UserWarning):
    """Something was left unconverted that was asked for, or takes long (AG217)."""
