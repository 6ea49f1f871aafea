"""Python control flow on PyTorch's tensors, in programs that are exported.

`export`, in place of `torch.export.export`, converts a function, or the parts of a
module, and traces it: an ``if`` that a tensor decides is a ``cond`` of the program, a
``while`` a ``while_loop``, a ``for`` over a tensor a ``scan``. The extra is ``torch``.

Tensors change in place. What a body changes of a tensor from outside, a copy in the
body takes, and the tensor gets it after the statement. Where the program has a copy of
what is one tensor in Python (a branch returns a tensor that has another name), `Copies`
knows that, and a change of either, seen by the other, is refused. Numbers of Python's
never change: those that become tensors are a `Number`.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
from collections.abc import Iterator
from typing import Any

import torch
from torch.fx.experimental import proxy_tensor
from torch.utils import _pytree as pytree

import autograph
from autograph.diagnostics import Location
from autograph.errors import StagingError
from autograph.operators import Perhaps
from autograph.operators.dispatch import begins_trace
from autograph.operators.state.snapshot import Snapshot

from . import staging as staging  # it registers the backend
from .copies import Copies, current, refused, storage_of
from .numbers import Number, PythonNumbers

#: PyTorch has others while it traces, which do not take every number.
_REAL = {"max": max, "min": min}


def export(program: Any, args: tuple[Any, ...], **options: Any) -> Any:
    """`torch.export.export` of a function, or of a module with its parts, converted.

    Args:
        program: a function or a `torch.nn.Module`.
        args: examples of its arguments; other numbers and shapes are other programs.
        options: those of `torch.export.export`, such as ``kwargs``.

    Returns:
        A `torch.export.ExportedProgram` for inference. Its results have no
        gradients where a statement is staged: PyTorch's are wrong, or fail.

    Raises:
        StagingError: the program cannot be exported so that it does what Python does.

    >>> def halved(x):
    ...     while x.sum() > 1:
    ...         x = x / 2
    ...     return x
    >>> export(halved, (torch.ones(2),)).module()(torch.tensor([3.0, 1.0]))
    tensor([0.7500, 0.2500])
    """
    is_module = isinstance(program, torch.nn.Module)
    module = program if is_module else torch.nn.Module()
    classes: set[Any] = {c for part in module.modules() for c in type(part).__mro__}
    own = {
        cls: vars(cls)["forward"]
        for cls in classes
        if "forward" in vars(cls) and not cls.__module__.startswith("torch.")
    }
    while True:
        try:
            for cls, forward in own.items():
                cls.forward = autograph.convert(forward)
            run = module.forward if is_module else autograph.convert(program)
            module.forward = _entry(run, module, program)
            return torch.export.export(module, args, strict=False, **options)
        except StagingError as error:
            if error.code != "AG302" or not autograph.convert_raising(error):
                raise
        finally:
            vars(module).pop("forward", None)
            for cls, forward in own.items():
                cls.forward = forward


def _entry(run: Any, module: Any, program: Any) -> Any:
    """The function that PyTorch traces."""

    @begins_trace
    @functools.wraps(run)
    def entry(*args: Any, **kwargs: Any) -> Any:
        token = current.set(Copies())
        before = Snapshot([("the function", program), ("self", module)])
        try:
            with PythonNumbers(), _plainly(module) as buffers:
                result = _finished(run(*args, **kwargs), buffers)
            changed = before.first_change()
            if changed is not None:
                before.restore()
                fix = "return it, or keep it in a buffer: `self.register_buffer(...)`"
                raise refused("AG207", f"{changed} outlives the program", fix)
            return result
        except StagingError as error:
            diagnostic, code = error.diagnostics[0], inspect.unwrap(run).__code__
            if diagnostic.location is not None:
                raise
            where = Location(code.co_filename, code.co_firstlineno)
            raise StagingError(diagnostic._replace(location=where)) from None
        finally:
            current.reset(token)

    return entry


def _finished(result: Any, buffers: set[Any]) -> Any:
    """The result as the program gives it: no number, and no buffer itself."""

    def finished(value: Any) -> Any:
        value = value.read() if isinstance(value, Perhaps) else value
        value = value.array if isinstance(value, Number) else value
        if storage_of(value) in buffers:
            return value.clone()
        return value.detach() if copies.has_statements and storage_of(value) else value

    copies = current.get()
    nodes = list(proxy_tensor._CURRENT_MAKE_FX_TRACER.fx_tracer.graph.nodes)
    inputs = [node for node in nodes if node.op == "placeholder"]
    copies.check(nodes, [*inputs, *pytree.tree_leaves(result)])
    return pytree.tree_map(finished, result)


@contextlib.contextmanager
def _plainly(module: Any) -> Iterator[set[Any]]:
    """Run without what PyTorch does to builtins and to assignments of buffers.

    Buffers that get other tensors get their values, at the end. It gives the storages.
    """
    hooks = torch.nn.modules.module._global_buffer_registration_hooks
    patched = {name: getattr(builtins, name) for name in _REAL}
    vars(builtins).update(_REAL)
    saved, parts = hooks.copy(), [(p, dict(p._buffers)) for p in module.modules()]
    hooks.clear()  # that of PyTorch wants each tensor to be of the outermost graph
    try:
        yield {storage_of(buffer) for buffer in module.buffers()}
        changes = [
            (old, part._buffers[name].clone())
            for part, buffers in parts
            for name, old in buffers.items()
            if part._buffers[name] is not old
        ]
    finally:
        hooks.update(saved)
        vars(builtins).update(patched)
        for part, buffers in parts:
            part._buffers.update(buffers)
    for old, new in changes:
        old.copy_(new)
