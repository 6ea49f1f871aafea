"""Guards: what a trace read of Python's state, checked before it is used again.

A trace is right for as long as the globals, captured variables, defaults and attributes
that its code read are what they were. `names` says what the text of functions reads,
`watch` notes the values before a trace is made, `reads` and `attributes` say where they
are, and `checks` compiles the comparison with `expected` values. A guard that fails
makes the cache trace again.
"""

from __future__ import annotations

from runtime.guards.checks import Change, Guards, Places
from runtime.guards.watch import LIMIT, note, watching

__all__ = ["LIMIT", "Change", "Guards", "Places", "note", "watching"]
