"""What is going on right now: the graph being built, the name scope, and switches.

The state lies in context variables, so that threads and async tasks do not see each
other's graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from runtime.types.devices import current_device, no_device

if TYPE_CHECKING:
    from runtime.graph.graph import Graph

__all__ = [
    "building",
    "control_dependencies",
    "current_device",
    "current_graph",
    "executing_eagerly",
    "functions_run_eagerly",
    "get_current_name_scope",
    "init_scope",
    "inside_function",
    "name_scope",
    "run_functions_eagerly",
    "scoped_name",
    "set_begin_and_end",
    "variable_created",
    "watch_variables",
    "watcher",
]

_graph: ContextVar[Graph | None] = ContextVar("graph", default=None)
_scope: ContextVar[str] = ContextVar("name scope", default="")
#: Those around each scope that is open here: the object may be shared by threads.
_outer_scopes: ContextVar[tuple[str, ...]] = ContextVar("outer scopes", default=())
_watcher: ContextVar[Callable[[Any], None] | None] = ContextVar("watcher", default=None)
_run_eagerly = False

#: The graph being built, or None when operations run at once. (The bare C function of
#: the variable: every operation asks.)
current_graph = _graph.get


def _nothing() -> None:
    pass


#: Called before an operation of a graph is built, and when no more follow for now.
_begin: Callable[[], None] = _nothing
_end: Callable[[], None] = _nothing


def set_begin_and_end(begin: Callable[[], None], end: Callable[[], None]) -> None:
    """Have the compiler told when there are graphs being built, in any thread."""
    global _begin, _end
    _begin, _end = begin, end


@contextmanager
def building(graph: Graph | None) -> Iterator[Graph | None]:
    """Within the block operations become nodes of `graph`, or run at once if None.

    Scopes of names begin anew. So do those of devices, except in the bodies of control
    flow: a trace must not depend on where it happens to be made.
    """
    token = _graph.set(graph)
    scope = _scope.set("")
    is_body = graph is not None and graph.parent is not None
    if graph is not None:
        _begin()
    try:
        with nullcontext() if is_body else no_device():
            yield graph
    finally:
        if graph is not None:
            _end()
        _scope.reset(scope)
        _graph.reset(token)


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
            full = f"{_scope.get()}{name}/"
        _outer_scopes.set((*_outer_scopes.get(), _scope.get()))
        _scope.set(full)
        return full

    def __exit__(self, *raised: object) -> None:
        *outer, scope = _outer_scopes.get()
        _outer_scopes.set(tuple(outer))
        _scope.set(scope)


def get_current_name_scope() -> str:
    """The name scope in force, without a slash at the end: empty if there is none."""
    return _scope.get().rstrip("/")


@contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Accepted and not needed: effects keep the order in which they are written."""
    yield


def scoped_name(name: str) -> str:
    """`name` under the name scope in force."""
    if not isinstance(name, str):
        raise TypeError(f"a name is a string, not {name!r}")
    return _scope.get() + name


@contextmanager
def watch_variables(watcher: Callable[[Any], None]) -> Iterator[None]:
    """Within the block `watcher` is called with each variable that is created."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def watcher() -> Callable[[Any], None] | None:
    """What is called with each variable that is created, if there is anything."""
    return _watcher.get()


def variable_created(variable: Any) -> None:
    """Tell the watcher, if there is one. It may raise to forbid the creation."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(variable)


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Switch off (True) or on (False) tracing: functions then run as plain Python."""
    global _run_eagerly
    _run_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether functions run as plain Python rather than being traced."""
    return _run_eagerly
