"""``autograph verify 'file.py::f(int32[100])'``: a function run in every way."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..diagnostics import Diagnostic
from ..errors import TargetError
from .imports import imported, library_specs, split_call
from .output import Reporter

#: How many arguments are drawn without ``--random``.
_SAMPLES = 3
_DESCRIPTION = """\
Run a function as it is written, converted, and staged by each executor that is
installed. Compare results, exceptions, printed output and changes of the arguments.
The module is imported, so its top-level code runs. A TARGET is a call, in quotes:

  'file.py::function(int32[], float32[?,3], 0.5)'
  'package.module:function(…)'

A tensor is written as its dtype and shape (? is any size); the command draws values for
it. Other arguments are Python literals.
"""


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add ``verify`` and its options to the commands."""
    verify: argparse.ArgumentParser = commands.add_parser(
        "verify",
        help="run a function as written, converted and staged, and compare",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verify.set_defaults(command=_run)
    verify.add_argument("targets", metavar="TARGET", nargs="+")
    verify.add_argument(
        "--random",
        metavar="N",
        type=int,
        help="try N arguments drawn by Hypothesis; report the smallest that differ",
    )
    verify.add_argument("--json", action="store_true", help="print the results as JSON")
    return verify


def _run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    if arguments.random is not None and arguments.random < 1:
        why = f"--random {arguments.random}: the number must be positive"
        raise TargetError(Diagnostic("AG404", "invalid option", why))
    records, status = [], 0
    for target in arguments.targets:
        found = _verified(target, arguments.random)
        status = max(status, 0 if all(one.agrees for one in found) else 1)
        records.append({"target": target, "calls": list(map(_record, found))})
        if not arguments.json:
            for one in found:
                if one.agrees and arguments.random:
                    reporter.result(
                        f"{one.name} behaves the same in every way for "
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
    from ..verification.verifier import Call, Verifier

    name, arguments = split_call(target)
    function = imported(name)
    library, specs = library_specs(arguments)
    try:
        verifier = Verifier(function)
        verifier.check(Call(*specs))
    except TypeError as error:
        title, why = f"`{name.qualname}` cannot be called so", str(error)
        is_method = "." in name.qualname
        fix = "write a function that makes the object and calls its method"
        fix = fix if is_method else ""
        raise TargetError(Diagnostic("AG403", title, why, fix=fix)) from error
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
