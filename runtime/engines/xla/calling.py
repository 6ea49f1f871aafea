"""Programs that call Python while they run: prints, functions of the program."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import count
from threading import RLock
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from runtime.core.graph import Graph
from runtime.core.locks import new_lock
from runtime.engines import interpreter
from runtime.engines.numpy_source.replay import replaying
from runtime.engines.xla.executable import Compiled
from runtime.engines.xla.flow import Flow
from runtime.engines.xla.rules.host import Log, calls_functions, inside
from runtime.ops.checks.numerics import is_checking
from runtime.ops.variables import Variable

#: By the ids of variables: held by a program that lends them to functions. Another such
#: program that ran meanwhile would lose what this one assigns.
_turns: WeakValueDictionary[int, Any] = WeakValueDictionary()
_turns_lock = new_lock()


class CallingPython(Compiled):
    """A graph as an XLA program whose calls are seen outside, each once.

    Where it is run again, by XLA with more room or by the interpreter, the calls that
    have happened do not happen again.
    """

    def __init__(self, graph: Graph, shapes: Sequence[Any] | None = None) -> None:
        super().__init__(graph, shapes)
        #: What calls gave in the runs that go on, by their numbers.
        self._logs: dict[int, Log] = {}
        self._numbers = count()
        self._owners: dict[int, Any] = {}
        if calls_functions(graph):
            # They may read and assign variables, in a thread of XLA.
            variables = [*self._assigned, *self._read]
            self._locks, self._assigned, self._read = [], variables, []
            self._owners = {id(v): v for v in variables if isinstance(v, Variable)}
        with _turns_lock:
            self._turns = [_turns.setdefault(v, RLock()) for v in sorted(self._owners)]
        self._compile(True)

    def _started(self, flow: Flow, inputs: Sequence[Any]) -> Sequence[Any]:
        flow.owners, flow.logs, flow.run_number = self._owners, self._logs, inputs[-1]
        return inputs[:-1]

    def run(self, arrays: Sequence[Any]) -> Any:
        """As a call; a single result as it is."""
        with ExitStack() as turns:
            # A function that such a program calls has its turn, in whatever thread.
            for turn in () if inside.calls else self._turns:
                turns.enter_context(turn)
            return self._run_in_turn(arrays)

    def _run_in_turn(self, arrays: Sequence[Any]) -> Any:
        if is_checking():
            return super().run(arrays)
        number = next(self._numbers)
        self._logs[number] = Log(
            [(v, np.array(v.on_device())) for v in self._owners.values()]
        )
        try:
            return super().run([*arrays, np.int64(number)])
        finally:
            del self._logs[number]

    def _run_again(self, arrays: Sequence[Any]) -> Any:
        self._logs[int(arrays[-1])].rewind()
        return Compiled.run(self, arrays)

    def _explain(self, arrays: Sequence[Any]) -> Any:
        log = self._logs[int(arrays[-1])]
        log.rewind()
        with replaying(log.calls):
            return interpreter.run(self.graph, list(map(np.asarray, arrays[:-1])))

    def _inputs(self) -> list[Any]:
        return [*super()._inputs(), np.int64(0)]
