"""Random programs as native code, for as long as they last.

A program is run as it usually is, with all accesses to arrays checked, in memory that
nobody may read or write too far in, as code for an old processor, or with all loops
shared among threads that may be. What it gives is compared with what NumPy gives: see
`tests.runtime.random_programs`.

``python -m tests.native_programs FIRST COUNT`` tries programs by number.
"""

from __future__ import annotations

import collections
import contextlib
import faulthandler
import os
import sys
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from unittest import mock

from runtime.engines.native import compilation, machine, shared
from runtime.engines.native.background import Background
from runtime.engines.native.builder import Builder
from tests import op_fuzz
from tests.number_programs import try_by_number
from tests.op_programs import random_program
from tests.runtime.engines.native.guarded import in_guarded_memory
from tests.runtime.random_programs import MAKERS, Program, differences

__all__ = ["check"]


def operations(seed: int, executor: str) -> Iterator[str]:
    """What the executor gives otherwise of programs about operations."""
    ways = [(Random(seed).choice(op_fuzz.SHAPES), executor)]
    for found in op_fuzz.differences(random_program(seed), ways):
        yield f"{found.shapes}: {found.text}"


def _compared(make: Callable[[int], Program]) -> Check:
    def compare(seed: int, executor: str) -> Iterator[str]:
        return differences(make(seed), executor)

    compare.__name__ = make.__name__
    return compare


#: What an executor gives otherwise of program number so and so.
Check = Callable[[int, str], Iterator[str]]
KINDS: list[Check] = [operations, *map(_compared, MAKERS)]
WAYS = [
    *("as usual", "checked", "at the end", "at the beginning", "old processor"),
    "shared",
]
#: What a program may take, in seconds, and what the compiler may of a processor.
_LONGEST, _LONGEST_TO_COMPILE = 120, 10


class Difference(AssertionError):
    """A program gives something else, or takes too long to compile."""


def check(seed: int, tally: collections.Counter[str] | None = None) -> None:
    """Run program number `seed`; `Difference` if a result is wrong."""
    tally = collections.Counter() if tally is None else tally
    compare, way = KINDS[seed % len(KINDS)], WAYS[seed // len(KINDS) % len(WAYS)]
    # A program that ends the process, or does not end, is named.
    print(f"{seed}: {compare.__name__}, {way}", end="\r", file=sys.stderr)
    faulthandler.dump_traceback_later(_LONGEST, exit=True)
    with _run_in(way), _counted(tally):
        for text in compare(seed, "native"):
            raise Difference(f"{compare.__name__}, {way}: {text}")
    faulthandler.cancel_dump_traceback_later()


def _run_in(way: str) -> Any:
    if way.startswith("at the"):
        return in_guarded_memory(at_end=way == "at the end")
    if way == "checked":
        return mock.patch.object(Builder, "checks_accesses", True)
    if way == "shared":
        return mock.patch.multiple(shared, SHARED_WORK=0, CHUNK_WORK=10)
    if way == "old processor":
        old = machine.Processor("x86-64", {})
        return mock.patch.object(machine, "processor", return_value=old)
    return contextlib.nullcontext()


@contextlib.contextmanager
def _counted(tally: collections.Counter[str]) -> Iterator[None]:
    """Count how programs run that are compiled in the block."""
    compile_graph = compilation.compile_graph

    def counted(*given: Any) -> Any:
        start = time.thread_time()
        found = compile_graph(*given)
        if time.thread_time() - start > _LONGEST_TO_COMPILE:
            raise Difference("takes too long to compile")
        tally[found.native.coverage] += 1
        return found

    with mock.patch.object(compilation, "compile_graph", counted):
        yield


if __name__ == "__main__":
    os.environ["AUTOGRAPH_NO_CACHE"] = "1"
    Background.is_enabled = False
    faulthandler.enable()
    raise SystemExit(try_by_number(check))
