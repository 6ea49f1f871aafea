"""The form of converted code that runs: on Python values, Python's own statements.

The printed form calls an operator for each statement that a tensor could decide. On
Python values that call, and the functions made for it, would cost several times what
the statement itself does. So what is compiled asks each test once: a Python value takes
the original statement, anything else the operator.

    def if_true():                    if (_test := x > 10) is True or …:
        nonlocal y                        y = 1
        y = 1                         elif _test is not False:
                                          def if_true():
    ag.cond(x > 10, if_true,                  nonlocal y
            state='y')                        y = 1

                                          ag.cond(_test, if_true, state='y')

The ``…`` has `ag.decided` answer for what is neither True nor False: the truth of a
Python value; a value of a tensor library is given back as it is. Within the functions
that an operator gets, nothing is doubled: they run while a graph is built.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import gast

from ...lang.labels import Helper
from ...lang.names import Namer
from .statements import DirectStatements

__all__ = ["direct"]


def direct(tree: gast.AST, helpers: Set[Helper]) -> Any:
    """The form of a converted function or module that is compiled.

    ``helpers`` are the functions that conversion generated.
    """
    return DirectStatements(Namer(tree), helpers).visit(tree)
