"""Guards: what a trace read of Python's state, checked before it is used again.

A trace is right for as long as the globals, captured variables, defaults and attributes
that its code read are what they were. `names` says what code reads, `watch` notes the
values before a trace is made, `checks` compiles the comparison with `expected` values.
"""

from __future__ import annotations

from runtime.guards.checks import Change, Guards, Places
from runtime.guards.current import note, watching

__all__ = ["Change", "Guards", "Places", "note", "watching"]
