"""Facts about functions: scopes, what is read and written, control flow, liveness.

`analyze` gives the `Facts` of one function; nothing here changes a tree.
"""

from __future__ import annotations

from autograph.analysis.dataflow import ELSEWHERE, UNBOUND
from autograph.analysis.facts import Facts, analyze
from autograph.analysis.scopes import NameSet, Target

__all__ = ["ELSEWHERE", "UNBOUND", "Facts", "NameSet", "Target", "analyze"]
