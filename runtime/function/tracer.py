"""`Tracer`: converts the Python function behind a `function`, and traces it.

`Function` calls it for each new trace. It runs the user's code, keeps the guards of its
traces, and holds the lock under which one thread traces at a time.
"""

from __future__ import annotations

import os
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from runtime.core.errors import TracingWarning, WaitingThreadsError
from runtime.core.graph.context import watch_variables
from runtime.core.location.user_code import user_position
from runtime.core.tensor import EagerTensor
from runtime.core.types import nest
from runtime.function.call import ObjectRef, Specs
from runtime.function.concrete import ConcreteFunction
from runtime.function.guards import LIMIT, Guards, Places, note, watching
from runtime.ops.staged.python_calls import called_functions
from runtime.staging import compiler
from runtime.staging.tracing.arguments import classes_in
from runtime.staging.tracing.signature import Signature
from runtime.staging.tracing.trace import Trace, trace

#: After so many seconds of waiting for another thread's trace, something is wrong.
PATIENCE = 120.0

#: Held by the thread that traces.
_lock = threading.RLock()


class TracingAlone:
    """A block in which no other thread traces.

    A trace puts tensors of its graph into the objects that the program shares, and
    takes them out at its end. The thread that traces may enter again, for a function
    that is called under `tf.init_scope`. Compiled code runs without the lock.

    Raises:
        WaitingThreadsError: another thread has been tracing for too long. It may wait
            for a lock or a thread of the program which waits for this one.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        self._lock = _lock  # the one to release, if the process forks in between
        if not self._lock.acquire(timeout=PATIENCE):
            location = user_position()
            where = f"{location.filename}:{location.lineno}: " if location else ""
            raise WaitingThreadsError(
                f"{where}AG307: {self._name!r} is to be traced, but another thread has "
                f"been tracing for {PATIENCE:g} seconds. Perhaps it waits for this "
                "thread, by a lock, an event or join(): wait outside of traced "
                "functions, or call the function once before the threads start"
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _after_fork() -> None:
    """Replace the lock: the thread that held it does not survive a fork."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Tracer:
    """Runs a Python function on placeholders to make graphs."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        signature: Signature,
        *,
        autograph: bool,
        options: Any,
        guards: bool,
        executor: str | None = None,
    ) -> None:
        self.python_function = python_function
        self.autograph = autograph
        self.options = options
        self.guards = guards
        self.executor = executor
        #: The number of times that the Python function was traced.
        self.count = 0
        self._signature = signature
        self._changed = Places()
        self._guards: weakref.WeakSet[Guards] = weakref.WeakSet()
        self._called: Any = None
        self._report: Any = None
        self._has_warned = False
        self._converted = None if autograph else python_function

    @property
    def converted(self) -> Callable[..., Any]:
        """The user's function with its control flow converted."""
        if self._converted is None:
            self._converted = compiler.conversion.convert(
                self.python_function, self.options
            )
        return self._converted

    @property
    def called(self) -> Any:
        """The record of the functions that traces called."""
        if self._called is None:
            self._called = compiler.conversion.new_called_functions()
        return self._called

    @property
    def report(self) -> Any:
        """The record of the statements that were staged in traces."""
        if self._report is None:
            self._report = compiler.watching.Report()
        return self._report

    def trace(self, specs: Specs) -> tuple[ConcreteFunction, Guards | None]:
        """Trace the function for these specs; the guards tell when to trace it again.

        The guards are None where they are switched off, or nothing needs a check.
        """
        args, kwargs = _arguments_of(specs)
        if not self.guards:
            result = self._trace_with_variables(args, kwargs)
            return ConcreteFunction(result, self._signature, specs), None
        is_converted = (
            compiler.conversion.as_written(self.converted) is not self.converted
        )
        objects = self._objects(args, kwargs)
        with watching(self.python_function, objects, is_converted) as watch:
            result = self._trace_with_variables(args, kwargs)
        guards = watch.guards(self._changed, called_functions(result.graph))
        if watch.left_out is not None:
            self._warn_of(*watch.left_out)
        for earlier in list(self._guards):
            # A change that this trace made must not invalidate an earlier trace.
            earlier.forget(self._changed)
            if guards is not None and guards.is_like(earlier):
                guards = earlier
        if guards is not None:
            self._guards.add(guards)
        return ConcreteFunction(result, self._signature, specs), guards

    def _warn_of(self, name: str, filename: str, line: int) -> None:
        """Warn, once, that the guards leave out a name that the trace read."""
        if self._has_warned:
            return
        self._has_warned = True
        warnings.warn_explicit(
            TracingWarning(
                f"AG324: {self._signature.name!r} reads more of Python's values than "
                f"the {LIMIT:,} that calls compare with what it was traced with: a "
                f"change of `{name}`, or of what is read after it, may not be noticed. "
                "Make it a tensor, or pass it as an argument",
                "AG324",
            ),
            None,
            filename,
            line,
        )

    def trace_capturing(
        self, specs: Specs, captured: Sequence[EagerTensor]
    ) -> ConcreteFunction:
        """Trace the function with inputs for eager tensors that it captures.

        They are constants in the ordinary trace, whose guards hold for this one, too.
        """
        args, kwargs = _arguments_of(specs)
        result = self._trace_with_variables(args, kwargs, captured)
        return ConcreteFunction(result, self._signature, specs, captured)

    def _objects(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Iterator[tuple[str, Any]]:
        """The arguments that a trace knows by identity, with their names."""
        for name, argument in self._signature.named(args, kwargs):
            for path, leaf in nest.flatten_with_paths(argument):
                yield name + path, leaf
            for kind in classes_in(argument):
                yield kind.__name__, kind

    def _trace_with_variables(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        captured: Sequence[EagerTensor] = (),
    ) -> Trace:
        """Trace the function, and once more if the first trace creates variables."""
        variables: list[Any] = []
        with watch_variables(self._refuse if self.count else variables.append):
            result = self._run(args, kwargs, captured)
        self.count += 1
        if variables:
            # Keep a trace in which the variables exist already.
            with watch_variables(self._refuse):
                result = self._run(args, kwargs, captured)
        return result

    def _run(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        captured: Sequence[EagerTensor],
    ) -> Trace:
        def attempt(function: Callable[..., Any]) -> Trace:
            watching = compiler.watching
            with watching.watching_calls(note), watching.reporting(self.report):
                return trace(
                    function, args, kwargs, self._signature.name, None, captured
                )

        if not self.autograph:
            result = attempt(self.converted)
        else:
            result = compiler.conversion.repaired(
                attempt, self.converted, self.options, self.called
            )
        if self.executor is not None:
            result.graph.executor = self.executor
        return result

    def _refuse(self, variable: Any) -> None:
        location = user_position()
        start = "" if location is None else f"{location.filename}:{location.lineno}: "
        name = getattr(variable, "name", None)
        noun = "a random generator" if name is None else f"the variable {name!r}"
        raise ValueError(
            f"{start}{self._signature.name!r} creates {noun} in a later trace than its "
            "first. tf.function only supports singleton tf.Variables created on the "
            "first call, and generators likewise: create it outside, or where an "
            "attribute is still None, and keep it"
            + ("" if location is None else location.excerpt())
        )


def _arguments_of(specs: Specs) -> Any:
    """The arguments of a call, with specs in place of tensors."""
    leaves = [
        leaf.get() if isinstance(leaf, ObjectRef) else leaf
        for leaf in nest.flatten(specs)
    ]
    return nest.pack_sequence_as(specs, leaves)
