"""A function as the command line names it: ``clip.py::clip(int32[], 0.5)``.

`runtime.files.saved_model.show` calls `traced`, which imports the user's module.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Mapping, Sequence
from functools import reduce
from types import ModuleType
from typing import Any

from runtime.core.errors import InvalidArgumentError, NotFoundError
from runtime.core.types import nest
from runtime.core.types.dtypes import as_dtype
from runtime.core.types.specs import TensorSpec
from runtime.function.concrete import ConcreteFunction
from runtime.function.function import Function, function

#: ``int32[]``, ``float32[?,3]``, ``string[...]``.
_SPEC = re.compile(r"(?P<dtype>[A-Za-z]\w*)\[(?P<shape>[\d?, ]*|\.\.\.)\]")
_TARGET = re.compile(r"(?P<module>[^()]+?)(?P<sep>::?)(?P<name>[\w.]+)\((?P<args>.*)\)")


def traced(target: str) -> ConcreteFunction:
    """The trace of a function for a signature; its module is imported, which runs it.

    Args:
        target: ``file.py::function(int32[])`` or ``package.module:function(int32[])``.
            The arguments are tensors by dtype and shape (``?`` for a size that is not
            known, ``...`` for a shape), or Python's literals, in structures too.

    Raises:
        InvalidArgumentError: it is written otherwise.
        NotFoundError: there is no such file, module or function.
    """
    match = _TARGET.fullmatch(target)
    if match is None:
        raise InvalidArgumentError(
            f"{target!r} names no function with its arguments: write "
            "'file.py::function(int32[], 0.5)' or 'package.module:function(int32[])'"
        )
    args, kwargs = arguments_of(match["args"])
    module = _load(match["module"], is_file=match["sep"] == "::")
    try:
        attribute: Any = reduce(getattr, match["name"].split("."), module)
    except AttributeError as error:
        raise NotFoundError(f"{match['module']} has no {match['name']!r}") from error
    return trace(attribute, args, kwargs)


def trace(f: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> ConcreteFunction:
    """The trace of a function for specs and Python's values; of a trace, itself."""
    if isinstance(f, ConcreteFunction):
        return f
    traceable = f if isinstance(f, Function) else function(f)
    return traceable.get_concrete_function(*args, **kwargs)


def arguments_of(text: str) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call that is written with dtypes and shapes for tensors.

    >>> arguments_of("int32[], [float32[?,3], 2], rate=0.5")
    ([TensorSpec(shape=(), dtype=tf.int32, name=None), \
[TensorSpec(shape=(None, 3), dtype=tf.float32, name=None), 2]], {'rate': 0.5})
    """
    specs: dict[str, TensorSpec] = {}

    def placeholder(match: re.Match[str]) -> str:
        key = f"\0{len(specs)}"
        specs[key] = TensorSpec(_shape(match["shape"]), as_dtype(match["dtype"]))
        return repr(key)

    try:
        call: Any = ast.parse(f"f({_SPEC.sub(placeholder, text)})", mode="eval").body
        args = [ast.literal_eval(arg) for arg in call.args]
        kwargs = {
            keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords
        }
    except (SyntaxError, TypeError, ValueError) as error:
        raise InvalidArgumentError(
            f"an argument in ({text}) is neither a tensor such as int32[] or "
            "float32[?,3] nor a Python literal"
        ) from error

    def filled(leaf: Any) -> Any:
        return specs.get(leaf, leaf) if isinstance(leaf, str) else leaf

    return nest.map_structure(filled, args), nest.map_structure(filled, kwargs)


def _shape(text: str) -> list[int | None] | None:
    if text == "...":
        return None
    return [
        None if size.strip() == "?" else int(size)
        for size in text.split(",")
        if size.strip()
    ]


def _load(name: str, is_file: bool) -> ModuleType:
    if not is_file:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise NotFoundError(str(error)) from error
    spec = importlib.util.spec_from_file_location(
        os.path.splitext(os.path.basename(name))[0], name
    )
    if spec is None or spec.loader is None or not os.path.isfile(name):
        raise NotFoundError(f"there is no Python file {name!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where pickles and dataclasses look it up
    spec.loader.exec_module(module)
    return module
