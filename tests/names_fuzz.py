"""Random programs about names, effects and objects: staged, they give Python's result.

    python -m tests.names_fuzz FIRST COUNT

compares the programs of these numbers and prints how many are equal and refused. A
program that is neither, or is refused without a code, is printed with its number.
"""

from __future__ import annotations

import argparse
import inspect
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import runtime as tf
from tests import rebinding_world, view_world
from tests.operand_world import load_operands

WORLDS: dict[str, Callable[[int], Callable[[Any], Any]]] = {
    "operands": load_operands,
    "views": view_world.load,
    "second names": view_world.load_second_names,
    **{
        f"aliases of {kind}": partial(view_world.load_aliases, kind)
        for kind in view_world.KINDS
    },
    **{
        f"rebinding of {kind}": partial(rebinding_world.load_rebinding, kind)
        for kind in rebinding_world.KINDS
    },
}
_SECONDS = 60


def outcome(function: Callable[[Any], Any], n: Any) -> Any:
    """What a call gives, or the class of the error that it raises."""
    try:
        result = function(n)
    except Exception as error:
        return type(error)
    return tf.nest.map_structure(
        lambda leaf: leaf.numpy().tolist() if tf.is_tensor(leaf) else leaf, result
    )


def verdict(function: Callable[[Any], Any], arguments: Iterable[int] = range(3)) -> str:
    """``equal``, the code with which the program is refused, or what is wrong."""
    expected = {n: outcome(function, n) for n in arguments}
    try:
        spec = tf.TensorSpec([], tf.int32)
        staged = tf.function(function).get_concrete_function(spec)
    except Exception as error:
        code = getattr(error, "code", None)
        # Every call fails; which error comes first may depend on the argument.
        raised = [found for found in expected.values() if isinstance(found, type)]
        fails = len(raised) == len(expected) and type(error) in raised
        return code or ("equal" if fails else f"{type(error).__name__}: {error}")
    found = {n: outcome(staged, tf.constant(n)) for n in arguments}
    return "equal" if found == expected else f"gives {found}, not {expected}"


def is_right(found: str) -> bool:
    """Whether a verdict is ``equal`` or a code."""
    return found == "equal" or (found[:2] == "AG" and found[2:].isdigit())


class _TooLong(BaseException):
    """A program takes too long."""


def _stop(*_: Any) -> None:
    raise _TooLong


def main() -> int:
    """Compare programs by number."""
    parser = argparse.ArgumentParser(description=inspect.getdoc(main))
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--world", choices=WORLDS, action="append")
    options = parser.parse_args()
    names, tally, wrong = options.world or list(WORLDS), Counter[str](), 0
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, _stop)
    for number in range(options.first, options.first + options.count):
        name = names[number % len(names)]
        # Again each second: what a callback of the collector raises is ignored.
        signal.setitimer(signal.ITIMER_PROF, _SECONDS, 1)
        try:
            found = verdict(WORLDS[name](number))
        except _TooLong:
            found = f"takes more than {_SECONDS} s of the processor"
        signal.setitimer(signal.ITIMER_PROF, 0)
        if is_right(found):
            tally[found] += 1
        else:
            wrong += 1
            print(f"{number} ({name}): {found}", flush=True)
        count = number - options.first + 1
        if count % 1000 == 0 or count == options.count:
            kinds = dict(tally.most_common())
            print(f"{count} programs: {kinds}, {wrong} wrong", flush=True)
    return bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
