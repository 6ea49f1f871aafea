"""``autograph lsp``: the findings of `check`, and more, in an editor."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from typing import Any

from ..diagnostics import Diagnostic
from ..errors import TargetError
from .output import Reporter

_DESCRIPTION = """\
Start a language server (LSP) on standard input and output. Your editor starts it for
you; see docs/editors.md. It shows the findings of `autograph check` while you type, how
a statement is converted on hover, and a link above each function to its converted code.
"""


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add ``lsp`` to the commands."""
    lsp: argparse.ArgumentParser = commands.add_parser(
        "lsp",
        help="start the language server for editors",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    lsp.set_defaults(command=_run)
    # Editors name the way of communication, and there is this one alone.
    lsp.add_argument(
        "--stdio", action="store_true", help="the default; for editors that pass it"
    )
    return lsp


def _run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    if find_spec("pygls") is None:
        fix = "pip install 'autograph-compiler[lsp]'"
        title = "a library is missing"
        raise TargetError(Diagnostic("AG411", title, "the server needs pygls", fix=fix))
    from .language_server import new_server

    new_server().start_io()
    return 0
