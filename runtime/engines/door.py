"""Which executor runs a graph, and what it makes of it.

``numpy`` is always there. ``xla`` needs JAX, the extra ``xla``, and ``native`` needs
llvmlite, the extra ``native``. A graph says in `Graph.executor` which one it asks for;
others run as `tf.config.set_executor` says. ``jit`` asks for a compiler: the native one
where llvmlite is installed and no GPU is asked for, XLA elsewhere.

Native code is made by a thread of its own, and NumPy answers until it is there. Who
asks for ``jit`` waits for it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from runtime.core.config import get_executor
from runtime.core.errors import OpError, UnimplementedError
from runtime.core.graph import Graph
from runtime.core.graph.editing import nested_graphs
from runtime.core.locks import new_lock
from runtime.core.types.devices import DeviceSpec, current_device
from runtime.engines.native.library import load as load_llvmlite
from runtime.engines.numpy_source.executable import compile_graph
from runtime.engines.xla.library import load as load_jax
from runtime.passes.optimize import chosen_passes, optimize

#: How many calls it takes, and more, from a graph to the next one in it.
_FRAMES = 20
_limit_lock = new_lock()


def executor_of(graph: Graph) -> str:
    """The name of the executor that runs the graph."""
    asked = graph.executor or get_executor()
    return _compiler() if asked == "jit" else asked


def _compiler() -> str:
    """What ``jit_compile=True`` compiles with here."""
    device = current_device()
    if device and DeviceSpec.from_string(device).device_type == "GPU":
        return "xla"
    for executor, library in (("native", "llvmlite"), ("xla", "jax")):
        if find_spec(library) is not None:
            return executor
    raise UnimplementedError(
        "jit_compile needs llvmlite, or JAX for GPUs, and neither is installed: "
        "pip install 'autograph-compiler[native]' or 'autograph-compiler[xla]'"
    )


def compiled(graph: Graph) -> Any:
    """The graph as its engine runs it: see `numpy_source.executable.Executable`.

    Raises UnimplementedError if what the executor needs is not installed.
    """
    with _room(graph):
        return _ENGINES[executor_of(graph)](graph)


def numpy_source(graph: Graph, rewritten: Graph | None = None) -> Any:
    """A graph as NumPy source: that of `rewritten`, or of the graph, optimised."""
    if rewritten is None:
        rewritten = optimize(graph, chosen_passes())
    executable = compile_graph(rewritten)
    # What is checked while it runs is the program as it was traced.
    executable.graph = graph
    return executable


def _xla(graph: Graph) -> Any:
    load_jax()
    from runtime.engines.xla.compilation import compile_graph as compile_for_xla

    return compile_for_xla(graph)


def _native(graph: Graph) -> Any:
    load_llvmlite()
    from runtime.engines.native.background import Background, warn_of_failure
    from runtime.engines.native.compilation import compile_graph as compile_to_native

    def make() -> Any:
        with _room(graph):
            return compile_to_native(graph, numpy_source)

    if graph.executor != "jit" and Background.is_enabled:
        return Background(numpy_source(graph), make)
    try:
        return make()
    except OpError:
        raise
    except Exception as error:
        warn_of_failure(graph.name, error)
        return numpy_source(graph)


_ENGINES = {"numpy": numpy_source, "native": _native, "xla": _xla}


@contextmanager
def _room(graph: Graph) -> Iterator[None]:
    """Room for recursion into a graph with others in it, for each of them."""
    frames = _FRAMES * sum(1 for _ in nested_graphs(graph))
    _raise_limit(frames)
    try:
        yield
    finally:
        _raise_limit(-frames)


def _raise_limit(frames: int) -> None:
    # The compiler has the like: saved models run without it.
    with _limit_lock:
        sys.setrecursionlimit(sys.getrecursionlimit() + frames)
