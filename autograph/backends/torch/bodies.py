"""Branches, and bodies of loops, as graphs for PyTorch's operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental import proxy_tensor

from .copies import changed_by, current, refused, storage_of
from .numbers import Number, array_of


class Kind(NamedTuple):
    """The shape and dtype of a tensor; a number of Python's has no device."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    device: Any = None
    is_number: bool = False

    def __str__(self) -> str:
        dtype = str(self.dtype).removeprefix("torch.")
        return f"{dtype}[{', '.join(map(str, self.shape))}]"


class Body:
    """A function as a graph; tensors from outside become further arguments of it."""

    def __init__(self, function: Callable[..., Any], kinds: list[Kind]) -> None:
        if torch._C._functorch.peek_interpreter_stack() is not None:
            fix = "call it outside of `torch.vmap`, `torch.func.grad` and the like"
            raise refused("AG330", "a transformation is around a statement", fix)
        tracer = proxy_tensor._CURRENT_MAKE_FX_TRACER
        untraced = proxy_tensor.disable_proxy_modes_tracing
        with untraced(), torch._guards.detect_fake_mode():
            examples = [
                torch.zeros(k.shape, dtype=k.dtype, device=k.device) for k in kinds
            ]
        self.given: tuple[Any, ...] = ()

        def run(*args: Any) -> tuple[Any, ...]:
            self.given = args
            values = (Number(x) if k.is_number else x for x, k in zip(args, kinds))
            found = list(function(*values))
            self.numbers = [isinstance(x, Number) for x in found]
            self.results = list(map(array_of, found))
            return tuple(self.results)

        self.module = tracer.trace_subgraph(run, *examples)
        self.nodes = list(self.module.graph.nodes)
        self.outer: dict[Any, Any] = {}
        self._lift()
        current.get().check(self.module.graph.nodes, self.outer.values())
        self.changed = {key for node in self.nodes for key in changed_by(node)}

    def _lift(self) -> None:
        """Make the tensors from outside arguments."""
        graph = self.module.graph
        places: dict[Any, Any] = {}
        read = []
        first = next(node for node in self.nodes if node.op != "placeholder")
        for node in self.nodes:
            is_read = node.op == "get_attr"
            value = getattr(self.module, node.target, None) if is_read else None
            if not isinstance(value, FakeTensor):
                continue
            source = _source(value)
            if source is None:
                raise refused("AG207", "PyTorch loses `x.data`", "`x.detach()` does it")
            if source not in self.outer:
                with graph.inserting_before(first):
                    places[source] = graph.placeholder(f"outer{len(places)}")
                places[source].meta["val"] = self.outer[source] = value
            node.replace_all_uses_with(places[source])
            read.append(node)
        for node in read:
            graph.erase_node(node)
        self.module.recompile()

    def call(self, *arrays: Any) -> list[Any]:
        """The results for other arrays."""
        found = self.module(*map(array_of, arrays), *self.outer.values())
        return [Number(x) if n else x for x, n in zip(found, self.numbers)]

    def run(self, outer: Any, changed: Any, *values: Any) -> tuple[Any, ...]:
        """The function in the program: it leaves what it is given as it is.

        Further arguments are the tensors that are ``changed``, and all ``outer`` ones.
        The results end with the former.
        """
        count = len(self.given)
        end = count + len(changed)
        own = [value.clone() for value in values[:end]]
        inside = {**dict(zip(outer, values[end:])), **dict(zip(changed, own[count:]))}
        found = self.module(*own[:count], *(inside[key] for key in self.outer))
        return (*(value.clone() for value in found), *own[count:])


def _source(tensor: Any) -> Any:
    """The node of a tensor in the graphs that are being made; None for a constant."""
    tracer = proxy_tensor._CURRENT_MAKE_FX_TRACER
    while tracer is not None:
        slot = proxy_tensor.get_proxy_slot(tensor, tracer.fx_tracer, None)
        if slot is not None:
            return slot.proxy.node
        tracer = tracer.parent_tracer
    return None


def operands(*bodies: Body) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """The tensors from outside that no body changes, and those that one does."""
    outer = {key: value for body in bodies for key, value in body.outer.items()}
    changes = set().union(*(body.changed for body in bodies))
    changed = {k: x for k, x in outer.items() if storage_of(x) in changes}
    if len(set(map(storage_of, changed.values()))) < len(changed):
        raise current.get().refusal()
    return {k: x for k, x in outer.items() if k not in changed}, changed


def distinct(*tensors: Any) -> list[Any]:
    """The tensors without gradients, and without views of one another.

    PyTorch's operators fail with either, or have wrong gradients.
    """
    current.get().has_statements = True
    found: dict[Any, Any] = {}
    first = (found.setdefault(storage_of(x), x) is x for x in tensors)
    return [
        (x if is_first else x.clone()).detach() for x, is_first in zip(tensors, first)
    ]
