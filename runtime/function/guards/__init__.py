"""Guards: what a trace read of Python's state, checked before it is used again.

A trace is right for as long as the globals, captured variables, defaults and attributes
that its code read are what they were. `names` says what the text of functions reads,
`watch` notes the `values` before a trace is made, `attributes` says where objects have
them, and `reads` compiles the comparison. A guard that fails makes the cache trace
again.
"""

from __future__ import annotations

from runtime.function.guards.reads import Change, Guards, Places
from runtime.function.guards.watch import LIMIT, note, watching

__all__ = ["LIMIT", "Change", "Guards", "Places", "note", "watching"]
