"""``autograph verify 'file.py::f(int32[100])'``: a function run in every way."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import re
import sys
from functools import reduce
from types import ModuleType
from typing import Any

from ..diagnostics import Diagnostic
from ..errors import TargetError
from .report import Reporter
from .targets import TargetName, parse_target

_CALL = re.compile(r"(?P<target>[^()]+)\((?P<arguments>.*)\)", re.DOTALL)
#: How many arguments are drawn without ``--random``.
_SAMPLES = 3
_DESCRIPTION = """\
Run a function as it is written, converted, and by each tensor library and executor
that is installed, and compare results, exceptions, output and changes of arguments.
Its module is imported, which runs it. A TARGET is

  file.py::function(int32[], float32[?,3], 0.5)    or  package.module:function(…)

with dtypes and shapes for tensors (? is any size), and else values of Python.
"""


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add ``verify`` and its options to the commands."""
    verify: argparse.ArgumentParser = commands.add_parser(
        "verify",
        help="run a function in every way and compare",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verify.set_defaults(command=_run)
    verify.add_argument("targets", metavar="TARGET", nargs="+")
    verify.add_argument(
        "--random",
        metavar="N",
        type=int,
        help="draw N arguments by Hypothesis, and show the smallest that differ",
    )
    verify.add_argument("--json", action="store_true", help="the same as JSON")
    return verify


def _run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    if arguments.random is not None and arguments.random < 1:
        why = f"--random {arguments.random}: it takes a positive number"
        raise TargetError(Diagnostic("AG404", "a wrong option", why))
    records, status = [], 0
    for target in arguments.targets:
        found = _verified(target, arguments.random)
        status = max(status, 0 if all(one.agrees for one in found) else 1)
        records.append({"target": target, "calls": list(map(_record, found))})
        if not arguments.json:
            for one in found:
                if one.agrees and arguments.random:
                    reporter.result(
                        f"{one.name} is the same in every way for "
                        f"{arguments.random} random arguments"
                    )
                elif one.agrees:
                    reporter.result(str(one))
                else:
                    reporter.findings(one.error().diagnostics)
    if arguments.json:
        reporter.result(json.dumps(records, indent=2))
    return status


def _record(verification: Any) -> dict[str, Any]:
    return {
        "call": verification.call,
        "expected": verification.expected,
        "agrees": verification.agrees,
        "ways": [
            {
                "way": one.way,
                "verdict": one.verdict,
                "text": one.text,
                "line": one.location and one.location.lineno,
            }
            for one in verification.results
        ],
    }


def _verified(target: str, count: int | None) -> list[Any]:
    """The verifications of a target that are to be shown: the first that differs is
    the last.
    """
    from ..verification.drawing import falsified, sampled
    from ..verification.library import libraries
    from ..verification.verifier import Call, Verifier

    match = _CALL.fullmatch(target)
    if match is None:
        why = f"`{target}` is no call: write 'file.py::function(int32[], 0.5)'"
        raise TargetError(Diagnostic("AG403", "the target is no call", why))
    library = next(iter(libraries().values()), None)
    if library is None:
        why = "no tensor library that knows `autograph verify` is installed"
        raise TargetError(Diagnostic("AG411", "a library is missing", why))
    verifier = Verifier(_function(parse_target(match["target"])))
    try:
        specs = library.specs(match["arguments"])
        verifier.check(Call(*specs))
    except (TypeError, ValueError) as error:
        title, why = "the arguments do not fit", str(error)
        raise TargetError(Diagnostic("AG403", title, why)) from error
    if count is not None:
        smallest = falsified(specs, library, count, verifier)
        if smallest is not None:
            return [smallest]
    found = []
    for seed in range(_SAMPLES if count is None else 1):
        found.append(verifier.compare(sampled(specs, library, seed)))
        if not found[-1].agrees or not _has_spec(specs, library):
            break
    return found


def _has_spec(structure: Any, library: Any) -> bool:
    if isinstance(structure, dict):
        structure = list(structure.values())
    if isinstance(structure, (list, tuple)):
        return any(_has_spec(part, library) for part in structure)
    return bool(library.is_spec(structure))


def _function(target: TargetName) -> Any:
    """The function that a target names; its module is imported.

    Raises:
        TargetError: AG401 to AG403, it is not there.
    """
    try:
        module = _module(target)
    except (OSError, ModuleNotFoundError) as error:
        title = f"cannot import `{target.name}`"
        raise TargetError(Diagnostic("AG402", title, str(error))) from error
    try:
        return reduce(getattr, target.qualname.split("."), module)
    except AttributeError as error:
        title = f"there is no `{target.qualname}` in {target.name}"
        raise TargetError(Diagnostic("AG403", title)) from error


def _module(target: TargetName) -> ModuleType:
    if target.kind == "module":
        sys.path.insert(0, os.getcwd())
        return importlib.import_module(target.name)
    name = os.path.splitext(os.path.basename(target.name))[0]
    spec = importlib.util.spec_from_file_location(name, target.name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError("it is no Python file")
    # What it imports from its folder is found as when it is run.
    sys.path.insert(0, os.path.dirname(os.path.abspath(target.name)))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where pickles and dataclasses look it up
    spec.loader.exec_module(module)
    return module
