"""``autograph run FILE`` and ``autograph run -m MODULE``: a program, converted."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import traceback
import types
import warnings
from importlib.machinery import SourceFileLoader
from typing import Any

from ..diagnostics import Diagnostic
from ..errors import AutographWarning, SourceError, TargetError
from .output import Reporter
from .show import add_choice_of_modules, options_of
from .targets import TargetName, read_target

_DESCRIPTION = """\
Run a Python program with its code converted. FILE, -m MODULE and ARG are those of
`python`, and the program does the same. In functions that a tensor library stages,
tensors can decide its control flow.
"""


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add ``run`` and its options to the commands."""
    run: argparse.ArgumentParser = commands.add_parser(
        "run",
        help="run a program with its code converted",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="autograph run [-h] [--include PATTERN] [--exclude PATTERN] "
        "(FILE | -m MODULE) [ARG ...]",
    )
    run.set_defaults(command=_run)
    add_choice_of_modules(run)
    run.add_argument(
        "-m",
        metavar="MODULE",
        nargs=argparse.REMAINDER,
        help="run a module or a package, as `python -m` does",
    )
    run.add_argument(
        "program", metavar="FILE", nargs=argparse.REMAINDER, help="a Python file"
    )
    return run


def _run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Run the program. Its SystemExit goes on; of another exception Python's traceback
    is printed, without the lines of this command, and the status is 1.
    """
    words = arguments.m or arguments.program
    words = words[1:] if words[:1] == ["--"] else words
    if not words:
        fix = "write `autograph run FILE` or `autograph run -m MODULE`"
        raise TargetError(Diagnostic("AG401", "no program is given", fix=fix))
    reporter.flush()
    try:
        if arguments.m:
            _run_module(words, options_of(arguments))
        else:
            _run_file(words, options_of(arguments))
    except (SystemExit, KeyboardInterrupt, TargetError, SourceError):
        raise
    except BaseException as error:
        frames = error.__traceback__
        while frames is not None and not _is_users(frames.tb_frame.f_code.co_filename):
            frames = frames.tb_next
        traceback.print_exception(error.with_traceback(frames))
        return 1
    return 0


def _is_users(filename: str) -> bool:
    return filename not in (__file__, runpy.__file__, "<frozen runpy>")


def _run_file(words: list[str], options: Any) -> None:
    from ..pipeline import convert_module

    path = os.path.abspath(words[0])
    source = read_target(TargetName("file", path))
    conversion = convert_module(source, options)
    main = types.ModuleType("__main__")
    main.__file__ = path
    main.__loader__ = SourceFileLoader("__main__", path)
    sys.argv = words
    sys.path[0] = os.path.dirname(path)
    sys.modules["__main__"] = main
    exec(conversion.code(), main.__dict__)


def _run_module(words: list[str], options: Any) -> None:
    from ..loading.import_hook import install_import_hook

    name = words[0]
    sys.argv = words
    sys.path[0] = os.getcwd()
    with warnings.catch_warnings():
        # Modules of Python that this command itself uses stay as they are.
        warnings.simplefilter("ignore", AutographWarning)
        hook = install_import_hook([name.partition(".")[0]], options)
    with hook:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
