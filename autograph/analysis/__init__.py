"""Facts about functions: scopes, reads and writes, control flow, liveness.

`analyze` gives the `Facts` of one function for the passes. Nothing changes a tree.
"""

from __future__ import annotations

from .dataflow import ELSEWHERE, UNBOUND
from .facts import Facts, analyze
from .scopes import NameSet, Target

__all__ = ["ELSEWHERE", "UNBOUND", "Facts", "NameSet", "Target", "analyze"]
