"""How the Python function behind a `function` is converted and traced."""

from __future__ import annotations

import os
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from runtime import compiler
from runtime.errors import TracingWarning, WaitingThreadsError
from runtime.function.call import ObjectRef, Specs
from runtime.function.concrete import ConcreteFunction
from runtime.graph.context import watch_variables
from runtime.guards import LIMIT, Guards, Places, note, watching
from runtime.location.user_code import user_place
from runtime.ops.staged.python_calls import called_functions
from runtime.tensor import EagerTensor
from runtime.tracing.arguments import classes_in
from runtime.tracing.signature import Signature
from runtime.tracing.trace import Trace, trace
from runtime.types import nest

__all__ = ["Tracer", "TracingAlone"]


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
            place = user_place()
            where = "" if place is None else f"{place.filename}:{place.lineno}: "
            raise WaitingThreadsError(
                f"{where}AG307: {self._name!r} is to be traced, but another thread has "
                f"been tracing for {PATIENCE:g} seconds. Perhaps it waits for this "
                "thread, by a lock, an event or join(): wait outside of traced "
                "functions, or call the function once before the threads start"
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _after_fork() -> None:
    """Forget who traces: other threads do not survive a fork."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Tracer:
    """A Python function that is run on placeholders to make graphs."""

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
        #: How often the Python function has been traced.
        self.count = 0
        self._signature = signature
        self._changed = Places()
        self._made_guards: weakref.WeakSet[Guards] = weakref.WeakSet()
        self._met: Any = None
        self._has_warned = False
        self._converted = None if autograph else python_function

    @property
    def converted(self) -> Callable[..., Any]:
        """The function that is traced: the user's, its control flow converted."""
        if self._converted is None:
            self._converted = compiler.conversion.convert(
                self.python_function, self.options
            )
        return self._converted

    @property
    def met(self) -> Any:
        """Collects the functions that are called in traces."""
        if self._met is None:
            self._met = compiler.conversion.new_met()
        return self._met

    def trace(self, specs: Specs) -> tuple[ConcreteFunction, Guards | None]:
        """Run the function for these specs: its graph, and what to check before reuse.

        There are no guards where they are switched off, or nothing is to be checked.
        """
        args, kwargs = _values(specs)
        if not self.guards:
            traced = self._made(args, kwargs)
            return ConcreteFunction(traced, self._signature, specs), None
        tells = compiler.conversion.as_written(self.converted) is not self.converted
        objects = self._objects(args, kwargs)
        with watching(self.python_function, objects, tells) as watch:
            traced = self._made(args, kwargs)
        guards = watch.guards(self._changed, called_functions(traced.graph))
        if watch.left_out is not None:
            self._warn_of(*watch.left_out)
        for earlier in list(self._made_guards):
            # What this trace changed is no reason to make an earlier one again.
            earlier.forget(self._changed)
            if guards is not None and guards.is_like(earlier):
                guards = earlier
        if guards is not None:
            self._made_guards.add(guards)
        return ConcreteFunction(traced, self._signature, specs), guards

    def _warn_of(self, name: str, filename: str, line: int) -> None:
        """Warn, once, of what no call compares with what a trace read."""
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
        """The graph with inputs for eager tensors that are constants in another trace.

        What is to be checked before reuse is what it is for that one.
        """
        args, kwargs = _values(specs)
        traced = self._made(args, kwargs, captured)
        return ConcreteFunction(traced, self._signature, specs, captured)

    def _objects(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Iterator[tuple[str, Any]]:
        """The arguments that a trace knows by identity, and what they are called."""
        for name, argument in self._signature.named(args, kwargs):
            for path, leaf in nest.flatten_with_paths(argument):
                yield name + path, leaf
            for kind in classes_in(argument):
                yield kind.__name__, kind

    def _made(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        captured: Sequence[EagerTensor] = (),
    ) -> Trace:
        """The trace for these arguments, made while variables are looked after."""
        created: list[Any] = []
        with watch_variables(self._refuse if self.count else created.append):
            traced = self._traced(args, kwargs, captured)
        self.count += 1
        if created:
            # The trace to keep is one of a later call, which creates none.
            with watch_variables(self._refuse):
                traced = self._traced(args, kwargs, captured)
        return traced

    def _traced(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        captured: Sequence[EagerTensor],
    ) -> Trace:
        def attempt(function: Callable[..., Any]) -> Trace:
            with compiler.watching.watching_calls(note):
                return trace(
                    function, args, kwargs, self._signature.name, None, captured
                )

        if not self.autograph:
            traced = attempt(self.converted)
        else:
            traced = compiler.conversion.repaired(
                attempt, self.converted, self.options, self.met
            )
        if self.executor is not None:
            traced.graph.executor = self.executor
        return traced

    def _refuse(self, variable: Any) -> None:
        place = user_place()
        start = "" if place is None else f"{place.filename}:{place.lineno}: "
        name = getattr(variable, "name", None)
        what = "a random generator" if name is None else f"the variable {name!r}"
        raise ValueError(
            f"{start}{self._signature.name!r} creates {what} in a later trace than its "
            "first. tf.function only supports singleton tf.Variables created on the "
            "first call, and generators likewise: create it outside, or where an "
            "attribute is still None, and keep it"
            + ("" if place is None else place.excerpt())
        )


def _values(specs: Specs) -> Any:
    """The arguments of a call with these specs, specs in place of tensors."""
    leaves = [
        leaf.get() if isinstance(leaf, ObjectRef) else leaf
        for leaf in nest.flatten(specs)
    ]
    return nest.pack_sequence_as(specs, leaves)
