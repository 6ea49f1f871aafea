"""Facts about functions: scopes, what is read and written, control flow, liveness.

`analyze` gives the `Facts` of one function; nothing here changes a tree.
"""

from __future__ import annotations

from autograph.analysis.cfg import Graph, Node
from autograph.analysis.facts import Facts, analyze
from autograph.analysis.nameset import NameSet
from autograph.analysis.places import Place
from autograph.analysis.reaching import ELSEWHERE, UNBOUND, Marker
from autograph.analysis.scopes import Scope

__all__ = [
    "ELSEWHERE",
    "UNBOUND",
    "Facts",
    "Graph",
    "Marker",
    "NameSet",
    "Node",
    "Place",
    "Scope",
    "analyze",
]
