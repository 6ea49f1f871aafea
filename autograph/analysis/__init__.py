"""Facts about functions: scopes, what is read and written, control flow, liveness.

`analyze` gives the `Facts` of one function; nothing here changes a tree.
"""

from __future__ import annotations

from .dataflow import ELSEWHERE, UNBOUND
from .facts import Facts, analyze
from .scopes import NameSet, Target

__all__ = ["ELSEWHERE", "UNBOUND", "Facts", "NameSet", "Target", "analyze"]
