"""What the process of a library is asked for: `worker.py` calls these methods."""

from __future__ import annotations

import importlib.util
import re
import shutil
import tempfile
from importlib import metadata
from itertools import count
from pathlib import Path
from time import perf_counter, sleep
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.libraries import LIBRARIES, OURS, Call
from benchmarks.workloads import WORKLOADS, Workload

__all__ = ["Session", "has_program", "installed_bytes", "load", "results"]

ROOT = Path(__file__).parents[1]
#: The ways that a program which compiles itself cannot be asked for.
ASKED = ("eager", "xla", "native", "compile")
#: Seconds between two turns.
PAUSE = 0.005
NAMES = {workload.name: workload for workload in WORKLOADS}


def load(
    name: str, library: Any, way: str, module: ModuleType, size: str
) -> tuple[Call, list[Any]]:
    """What is to be called, and the arguments in the form of the library."""
    rules = LIBRARIES[name]
    random, sizes = np.random.default_rng(0), module.SIZES[size]
    drawn = module.inputs(random, *sizes)
    fixed = tuple(i for i, value in enumerate(drawn) if isinstance(value, int))
    weights = module.weights(random, *sizes) if is_trained(module) else ()
    call = getattr(module, rules.programs)(library, *weights)
    if rules.programs not in getattr(module, "COMPILED", ()):
        call = rules.ways[way](library, call, fixed)
    give = rules.gives.get(way, rules.give)
    arguments = [
        value if isinstance(value, int) else give(library, value) for value in drawn
    ]
    return call, arguments


def results(call: Call, arguments: list[Any], module: ModuleType) -> list[np.ndarray]:
    """What calls give, as arrays: one call, or several of what is trained.

    Each of these begins with the weights that the one before has left.
    """
    found = []
    for _ in range(3 if is_trained(module) else 1):
        result = call(*arguments)
        found += result if isinstance(result, tuple | list) else [result]
    return [np.asarray(part) for part in found]


def is_trained(module: ModuleType) -> bool:
    """Whether the programs of a workload keep weights between calls."""
    return hasattr(module, "weights")


def has_program(name: str, way: str, module: ModuleType) -> bool:
    """Whether a library can run a workload in one of its ways."""
    programs = LIBRARIES[name].programs
    compiled = programs in getattr(module, "COMPILED", ())
    if name == OURS and way == "xla" and not hasattr(module, "jax"):
        return False  # there is nothing to compare it with
    return hasattr(module, programs) and not (compiled and way in ASKED)


class Session:
    """A library and the workloads that it has been asked to prepare."""

    def __init__(self, name: str, library: Any) -> None:
        self.name = name
        self.library = library
        self._ready: dict[str, tuple[Call, list[Any]]] = {}
        self._copies = count()

    def prepare(self, workload: str, way: str, size: str, save: str) -> dict[str, Any]:
        """Call a workload once and save what it gives, as a list of arrays.

        `missing` says that the library has no program for it.
        """
        module = NAMES[workload].programs()
        if not has_program(self.name, way, module):
            return {"missing": True}
        found = load(self.name, self.library, way, module, _size(workload, size))
        self._ready[way] = found
        call, arguments = found
        np.savez(save, *results(call, arguments, module))
        return {}

    def time(self, way: str, calls: int) -> dict[str, float]:
        """The seconds that so many calls of what was prepared take."""
        if way not in self._ready:  # this process may stand in for one that ended
            raise LookupError("nothing is prepared in this process")
        call, arguments = self._ready[way]
        # The process was stopped: its threads have to come to themselves again.
        sleep(PAUSE)
        for _ in range(calls // 10 or calls > 1):
            call(*arguments)
        start = perf_counter()
        for _ in range(calls):
            call(*arguments)
        return {"seconds": perf_counter() - start}

    def first(self, workload: str, way: str, size: str) -> dict[str, float]:
        """The seconds of the first call of a function that was never seen before."""
        with tempfile.TemporaryDirectory() as folder:
            module = self._copy(NAMES[workload], Path(folder))
            call, arguments = load(
                self.name, self.library, way, module, _size(workload, size)
            )
            start = perf_counter()
            call(*arguments)
            return {"seconds": perf_counter() - start}

    def _copy(self, workload: Workload, folder: Path) -> ModuleType:
        """The file of a workload as another module: no cache knows its functions."""
        name = f"{workload.module}_{next(self._copies)}"
        path = folder / f"{name}.py"
        shutil.copy(str(workload.programs().__file__), path)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def installed(self) -> dict[str, float]:
        """The bytes that the library takes with all that it requires."""
        rules = LIBRARIES[self.name]
        size = installed_bytes(rules.parts or rules.packages)
        if self.name == OURS:
            size += sum(
                path.stat().st_size
                for package in ("autograph", "runtime")
                for path in (ROOT / package).rglob("*")
                if path.is_file() and "__pycache__" not in path.parts
            )
        return {"bytes": size}


def _size(workload: str, size: str) -> str:
    """The key of the sizes: `quick` stands for the usual one where it has none."""
    found = NAMES[workload]
    return size if size in found.programs().SIZES else found.size


def installed_bytes(distributions: tuple[str, ...]) -> int:
    """The sizes of the files of distributions and of all that these require.

    >>> installed_bytes(("gast",)) < installed_bytes(("gast", "astor"))
    True
    """
    seen: set[str] = set()
    waiting = list(distributions)
    total = 0
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # for another platform
            continue
        for path in found.files or ():
            file = Path(str(path.locate()))
            # Bytecode depends on what has been run.
            if file.suffix != ".pyc" and file.is_file():
                total += file.stat().st_size
        for requirement in found.requires or ():
            needed = re.match(r"[\w.-]+", requirement)
            if needed and "extra ==" not in requirement:
                waiting.append(needed[0])
    return total
