"""Context of the running program: name scopes, watchers of variables, switches.

The state lies in context variables, so that threads and async tasks do not see each
other's graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from runtime.core.graph.graph import Graph, name_prefix
from runtime.core.graph.graph import building as building
from runtime.core.graph.graph import current_graph as current_graph
from runtime.core.graph.graph import scoped_name as scoped_name
from runtime.core.types.devices import current_device as current_device

#: The prefix around each open scope. Not in the scope itself: threads may share it.
_outer_scopes: ContextVar[tuple[str, ...]] = ContextVar("outer scopes", default=())
_watcher: ContextVar[Callable[[Any], None] | None] = ContextVar("watcher", default=None)
#: The function of a strategy of `tf.distribute` that places new variables on devices.
_placer: ContextVar[Callable[[Any], None] | None] = ContextVar("placer", default=None)
_run_eagerly = False


def enclosing(graph: Graph | None) -> Iterator[Graph]:
    """A graph and those around it, from the inside out."""
    while graph is not None:
        yield graph
        graph = graph.parent


@contextmanager
def init_scope() -> Iterator[None]:
    """Leave all graphs being built: operations in the block run at once."""
    with building(None):
        yield


def executing_eagerly() -> bool:
    """Whether operations run at once: False while a function is traced."""
    return current_graph() is None


def inside_function() -> bool:
    """Whether a function is being traced."""
    return current_graph() is not None


class name_scope:  # noqa: N801 (the name in TensorFlow)
    """Within the block the names of nodes start with ``name/``.

    Gives the full prefix. An existing scope is entered again by its full name with a
    slash at the end. Raises ValueError if the name is no string.

    >>> with name_scope("layer") as scope:
    ...     print(scope, get_current_name_scope())
    layer/ layer
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError(f"the name of a name_scope is a string, not {name!r}")
        self._name = name

    @property
    def name(self) -> str:
        """The name as it was given."""
        return self._name

    def __enter__(self) -> str:
        name, graph = self._name, current_graph()
        if not name or name.endswith("/"):
            full = name
        elif graph is not None:
            full = graph.unique_name(name) + "/"
        else:
            full = f"{name_prefix.get()}{name}/"
        _outer_scopes.set((*_outer_scopes.get(), name_prefix.get()))
        name_prefix.set(full)
        return full

    def __exit__(self, *raised: object) -> None:
        *outer, scope = _outer_scopes.get()
        _outer_scopes.set(tuple(outer))
        name_prefix.set(scope)


def get_current_name_scope() -> str:
    """The name scope in force, without a slash at the end: empty if there is none."""
    return name_prefix.get().rstrip("/")


@contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Accepted and not needed: effects keep the order in which they are written."""
    yield


@contextmanager
def watch_variables(watcher: Callable[[Any], None]) -> Iterator[None]:
    """Within the block `watcher` is called with each variable that is created."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def watcher() -> Callable[[Any], None] | None:
    """The function that is called with each new variable, or None."""
    return _watcher.get()


@contextmanager
def placing_variables(placer: Callable[[Any], None]) -> Iterator[None]:
    """Within the block `placer` is called with each variable that is created."""
    token = _placer.set(placer)
    try:
        yield
    finally:
        _placer.reset(token)


def variable_created(variable: Any) -> None:
    """Pass a new variable to the watcher, which may raise, and to the placer."""
    watcher, placer = _watcher.get(), _placer.get()
    if watcher is not None:
        watcher(variable)
    if placer is not None:
        placer(variable)


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Switch off (True) or on (False) tracing: functions then run as plain Python."""
    global _run_eagerly
    _run_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether functions run as plain Python rather than being traced."""
    return _run_eagerly
