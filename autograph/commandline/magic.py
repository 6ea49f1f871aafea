"""``%load_ext autograph``: the cell magic ``%%autograph`` of IPython and notebooks."""

from __future__ import annotations

import ast
from typing import Any

from ..diagnostics import Diagnostic
from ..errors import AutographError, TargetError


def load(shell: Any) -> None:
    """Give the shell of IPython the cell magic ``%%autograph``: it runs the cell, and
    prints the converted code of the functions and classes that it defines.
    """

    def autograph(line: str, cell: str) -> None:
        try:
            _show(shell, line, cell)
        except AutographError as error:
            print(error)

    shell.register_magic_function(autograph, "cell")


def _show(shell: Any, line: str, cell: str) -> None:
    from ..api import to_code

    if line.strip():
        why = f"`%%autograph {line}`: it takes none"
        raise TargetError(Diagnostic("AG404", "invalid option", why))
    if not shell.run_cell(cell).success:
        return  # the shell has shown the error
    for node in ast.parse(shell.transform_cell(cell)).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            print(to_code(shell.user_ns[node.name]))
