"""From ordinary functions to functions that call operators: tree to tree.

`pass_list` takes one function through the passes, in this order:

1. `selection` decides which statements a tensor may decide;
2. `patterns` and `exits` rearrange them, and the result is still plain Python;
3. `control_flow` makes calls of operators of them, with `conditionals`, and
   `expressions` of what they evaluate, with `values` and `comprehensions`.

In what is executed, `as_written` puts the statements that the user wrote beside the
result: `autograph.pipeline` has it do so for a whole module or function.

`bindings` and `variables` answer questions about names. In tests `verify` checks the
tree after each pass.
"""

from __future__ import annotations

from .context import Context
from .pass_list import convert_function, staying_in
from .selection import Stays

__all__ = ["Context", "Stays", "convert_function", "staying_in"]
