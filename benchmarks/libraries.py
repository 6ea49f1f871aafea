"""What is compared: how each library is imported, fed and called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "CONTESTANTS",
    "LIBRARIES",
    "OURS",
    "OURS_NATIVE",
    "OURS_XLA",
    "Contestant",
    "Library",
]

Call = Callable[..., Any]


def as_it_is(library: Any, program: Call, fixed: tuple[int, ...]) -> Call:
    return program


def tf_function(tf: Any, program: Call, fixed: tuple[int, ...]) -> Call:
    return tf.function(program)  # type: ignore[no-any-return]


def tf_xla(tf: Any, program: Call, fixed: tuple[int, ...]) -> Call:
    compiled = tf.function(program, executor="xla")
    from jax import block_until_ready

    def call(*arguments: Any) -> Any:
        result = compiled(*arguments)
        several = isinstance(result, (tuple, list))
        parts = result if several else [result]
        block_until_ready([part.held for part in parts] if several else result.held)
        return result

    return call


def tf_jit(tf: Any, program: Call, fixed: tuple[int, ...]) -> Call:
    return tf.function(program, jit_compile=True)  # type: ignore[no-any-return]


def tf_native(tf: Any, program: Call, fixed: tuple[int, ...]) -> Call:
    return tf.function(program, jit_compile=True)  # type: ignore[no-any-return]


def torch_compile(torch: Any, program: Call, fixed: tuple[int, ...]) -> Call:
    return torch.compile(program)  # type: ignore[no-any-return]


def jit(jax: Any, program: Call, fixed: tuple[int, ...]) -> Call:
    compiled = jax.jit(program, static_argnums=fixed)
    # A call comes back before the result is there.
    return lambda *arguments: jax.block_until_ready(compiled(*arguments))


def njit(numba: Any, program: Call, fixed: tuple[int, ...]) -> Call:
    return numba.njit(program)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Library:
    """A library with an interpreter of its own.

    >>> LIBRARIES["jax"].packages
    ('jax',)
    """

    #: The module to import, and whose programs of a workload it runs.
    module: str
    programs: str
    #: What makes a program ready to be called, by the name of the way.
    ways: dict[str, Callable[[Any, Call, tuple[int, ...]], Call]]
    #: An array of NumPy as this library has it.
    give: Callable[[Any, Any], Any] = lambda library, array: array
    #: The same for some of the ways.
    gives: dict[str, Callable[[Any, Any], Any]] = field(default_factory=dict)
    #: What pip installs for it; nothing where it runs in the Python of this command.
    packages: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    #: The distributions whose sizes count, by default `packages`.
    parts: tuple[str, ...] = field(default=())


def tf_give(tf: Any, array: Any) -> Any:
    return tf.constant(array)


def xla_give(tf: Any, array: Any) -> Any:
    """A tensor that lies where XLA has its arrays, as those of JAX do."""
    from jax import numpy

    from runtime.core.tensor.device import DeviceTensor
    from runtime.engines.xla.library import load

    load()
    return DeviceTensor(numpy.asarray(array))


#: Ours, run by NumPy, by XLA and as native code.
OURS, OURS_XLA, OURS_NATIVE = "ours", "ours-xla", "ours-native"

LIBRARIES = {
    OURS: Library(
        "runtime",
        "tensorflow",
        {"staged": tf_function, "eager": as_it_is, "xla": tf_xla, "native": tf_native},
        tf_give,
        {"xla": xla_give},
        parts=("gast", "astor", "numpy"),
    ),
    "c": Library("benchmarks.c", "c", {"compiled": as_it_is}),
    "numpy": Library("numpy", "numpy", {"plain": as_it_is}, parts=("numpy",)),
    "tensorflow": Library(
        "tensorflow",
        "tensorflow",
        {"graph": tf_function, "xla": tf_jit, "eager": as_it_is},
        tf_give,
        packages=("tensorflow-cpu",),
    ),
    "jax": Library(
        "jax",
        "jax",
        {"jit": jit},
        lambda jax, array: jax.numpy.asarray(array),
        packages=("jax",),
    ),
    "torch": Library(
        "torch",
        "torch",
        {"eager": as_it_is, "compile": torch_compile},
        lambda torch, array: torch.as_tensor(array),
        packages=("torch", "numpy"),
        options=("--extra-index-url", "https://download.pytorch.org/whl/cpu"),
    ),
    "numba": Library("numba", "numba", {"njit": njit}, packages=("numba",)),
}


#: All executors of ours.
EVERY = ("numpy", "xla", "native")


@dataclass(frozen=True)
class Contestant:
    """A library in one of its ways: a column of the table."""

    key: str
    title: str
    library: str
    way: str
    #: Whether its first call of a function traces or compiles it.
    compiles: bool = False
    #: For which executors of ours it is measured.
    executors: tuple[str, ...] = ("numpy",)


CONTESTANTS = [
    Contestant(OURS, "ours", OURS, "staged", compiles=True),
    Contestant(OURS_XLA, "ours, XLA", OURS, "xla", True, ("xla",)),
    Contestant(OURS_NATIVE, "ours, native", OURS, "native", True, ("native",)),
    Contestant("ours-eager", "ours, eager", OURS, "eager"),
    Contestant("numpy", "NumPy", "numpy", "plain", False, EVERY),
    Contestant("tensorflow", "TensorFlow", "tensorflow", "graph", True),
    Contestant("tensorflow-eager", "TF eager", "tensorflow", "eager"),
    Contestant("tensorflow-xla", "TF XLA", "tensorflow", "xla", True, ("native",)),
    Contestant("jax", "JAX jit", "jax", "jit", True, EVERY),
    Contestant("torch", "PyTorch", "torch", "eager", False, ("numpy", "native")),
    Contestant("torch-compile", "compile", "torch", "compile", True, ("native",)),
    Contestant("numba", "Numba", "numba", "njit", True, ("numpy", "native")),
    Contestant("c", "C", "c", "compiled", False, ("native",)),
]
