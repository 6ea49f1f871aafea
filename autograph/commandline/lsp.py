"""``autograph lsp``: the findings of `check`, and more, in an editor."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from typing import Any

from ..diagnostics import Diagnostic
from ..errors import TargetError
from .output import Reporter

_DESCRIPTION = """\
Serve an editor by the Language Server Protocol, over standard input and output: the
findings of `autograph check`, what becomes of a statement on hover, and above each
function a link that shows it converted. Editors start it themselves.
"""


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add ``lsp`` to the commands."""
    lsp: argparse.ArgumentParser = commands.add_parser(
        "lsp",
        help="serve an editor by the Language Server Protocol",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    lsp.set_defaults(command=_run)
    # Editors name the way of communication, and there is this one alone.
    lsp.add_argument("--stdio", action="store_true", help="the only way; the default")
    return lsp


def _run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    if find_spec("pygls") is None:
        why = "the server is written with pygls: pip install 'autograph-compiler[lsp]'"
        raise TargetError(Diagnostic("AG411", "a library is missing", why))
    from .language_server import new_server

    new_server().start_io()
    return 0
