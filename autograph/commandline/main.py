"""The command line: ``autograph COMMAND …``, each command in a module of its name.

Thin over the library. `main` returns the exit status: 0 for success, 1 for findings
(code that was refused or is not valid Python), 2 for a wrong command or target.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence

from .._version import __version__
from . import build, check, explain, lsp, report, run, show, verify
from .failures import failure
from .output import Reporter, as_record

_DESCRIPTION = """\
Convert Python control flow into readable functional code, which a tensor library can
stage: trace into a graph. `autograph COMMAND --help` describes each command.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    >>> main(["show", "statistics:no_such_function"])
    2
    """
    try:
        arguments = _parser().parse_args(
            _spaced(sys.argv[1:] if argv is None else argv)
        )
    except SystemExit as stop:  # --help, --version, or a wrong usage, already printed
        return stop.code if isinstance(stop.code, int) else 2
    reporter = Reporter(sys.stdout, sys.stderr, arguments.color)
    try:
        status = _run(arguments, reporter)
        reporter.flush()
    except BrokenPipeError:
        # The reader has seen enough, as in `| head`. Python would complain once more
        # when it flushes at exit: give it nothing to flush to.
        _detach_stdout()
        return 1
    except OSError as error:  # a full disk behind `>`, say
        _detach_stdout()
        reporter.note(f"autograph: cannot write the output: {error.strerror}")
        return 1
    except KeyboardInterrupt:
        reporter.note("interrupted")
        return 128 + signal.SIGINT
    return status


def _spaced(argv: Sequence[str]) -> list[str]:
    """The arguments, with a space before ``-::name``: argparse would see options.

    Those of a program that is run are its own.
    """
    if "run" in argv[:1]:
        return list(argv)
    return [f" {word}" if word.startswith("-::") else word for word in argv]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="autograph",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version", action="version", version=f"autograph {__version__}"
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in (show, check, verify, report, run, build, explain, lsp):
        module.add_command(commands).add_argument(
            "--color",
            choices=["auto", "always", "never"],
            default="auto",
            help="colours; auto: on a terminal, unless NO_COLOR is set",
        )
    return parser


def _run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    try:
        status: int = arguments.command(arguments, reporter)
    except OSError:
        raise  # our own output; files that were asked for have their own errors
    except Exception as error:
        status, diagnostics = failure(error)
        if getattr(arguments, "json", False):
            record = as_record("", "", None, diagnostics)
            reporter.result(json.dumps(record, indent=2))
        else:
            reporter.diagnostics(diagnostics)
    return status


def _detach_stdout() -> None:
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return  # not a real file, as in tests
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)
