"""What is in a saved model, and the graph of a function: ``python -m runtime show``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from runtime.core.config import get_executor, set_executor
from runtime.core.errors import OpError, UnimplementedError
from runtime.files.saved_model.functions import LoadedFunction
from runtime.files.saved_model.load import open_model
from runtime.function.concrete import ConcreteFunction
from runtime.function.explanation import typed_call
from runtime.function.show import traced


def describe(export_dir: str) -> dict[str, Any]:
    """The signatures, functions and variables of a saved model, for JSON."""
    model = open_model(export_dir)
    names = _names(model.record)
    return {
        "version": model.record["version"],
        "producer": model.record["producer"],
        "signatures": {
            name: {
                "inputs": {s.name: s.describe() for s in found._specs[0]},
                "outputs": {
                    key: tensor.spec.describe()
                    for key, tensor in found.structured_outputs.items()
                },
            }
            for name, found in model.signatures.items()
        },
        "functions": {
            names.get(number, str(number)): [
                {
                    "call": typed_call(concrete),
                    "gives": [t.spec.describe() for t in concrete.graph.outputs],
                    "source": concrete.to_source(),
                }
                for concrete in _traces(found)
            ]
            for number, found in model.functions.items()
        },
        "variables": [
            {"name": v.name, "spec": v.spec.describe(), "trainable": v.trainable}
            for v in model.variables
        ],
        "assets": [entry["file"] for entry in model.record["assets"]],
    }


def show(export_dir: str) -> str:
    """The same as text for people, with the source of each function."""
    return "\n".join(_lines(describe(export_dir)))


def _lines(found: dict[str, Any]) -> Iterator[str]:
    yield f"saved model, version {found['version']}, of release {found['producer']}"
    for name, signature in found["signatures"].items():
        inputs = ", ".join(f"{key}: {t}" for key, t in signature["inputs"].items())
        outputs = ", ".join(f"{key}: {t}" for key, t in signature["outputs"].items())
        yield f"\nsignature {name}({inputs}) -> {{{outputs}}}"
    if found["variables"]:
        yield "\nvariables"
    for variable in found["variables"]:
        frozen = "" if variable["trainable"] else "  (not trainable)"
        yield f"  {variable['name']}: {variable['spec']}{frozen}"
    if found["assets"]:
        yield "\nassets"
    for asset in found["assets"]:
        yield f"  {asset}"
    for name, traces in found["functions"].items():
        for trace in traces:
            yield f"\nfunction {name}: {trace['call']} -> {', '.join(trace['gives'])}"
            yield ""
            yield from _indented(trace["source"])
        if not traces:
            yield f"\nfunction {name}: no trace was saved"


def _indented(source: str) -> Iterator[str]:
    for line in source.splitlines():
        yield f"    {line}".rstrip()


def _traces(found: LoadedFunction | ConcreteFunction) -> list[ConcreteFunction]:
    if isinstance(found, ConcreteFunction):
        return [found]
    return found.current_traces()


def _names(record: dict[str, Any]) -> dict[int, str]:
    """What leads to each object: ``model.layers[0].call``."""
    found = {record["root"]: ""}
    waiting = [record["root"]]
    for number in waiting:
        for step, item in _items(record["objects"][number]):
            child = item.get("object") if type(item) is dict else None
            if child is not None and child not in found:
                found[child] = f"{found[number]}{step}".removeprefix(".")
                waiting.append(child)
    return found


def _items(entry: dict[str, Any]) -> list[tuple[str, Any]]:
    if entry["kind"] == "object":
        return [(f".{name}", item) for name, item in entry["attributes"].items()]
    if entry["kind"] == "dict":
        return [(f"[{key!r}]", item) for key, item in entry["items"]]
    return [(f"[{i}]", item) for i, item in enumerate(entry.get("items", ()))]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; gives the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m runtime", description="Look at saved models and at graphs."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser(
        "show",
        help="what is in a saved model, or the graph of a function",
        description="What is in a saved model, or the graph of a function, for which "
        "its module is imported.",
    )
    command.add_argument(
        "target",
        metavar="TARGET",
        help="the folder of a model, or 'file.py::function(int32[], float32[?,3])', or "
        "'package.module:function(int32[])'",
    )
    views = command.add_mutually_exclusive_group()
    views.add_argument("--json", action="store_true", help="a model as JSON")
    views.add_argument("--graph", action="store_true", help="a function's graph")
    views.add_argument(
        "--source", action="store_true", help="the Python source that runs the graph"
    )
    views.add_argument("--loops", action="store_true", help="its native code, as loops")
    views.add_argument("--llvm", action="store_true", help="for LLVM")
    views.add_argument("--asm", action="store_true", help="for the processor")
    views.add_argument(
        "--explain", action="store_true", help="what of it is no native code, and why"
    )
    options = parser.parse_args(arguments)
    try:
        print(_view(options), flush=True)
    except BrokenPipeError:
        # The reader has seen enough: Python would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (OpError, ModuleNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _view(options: argparse.Namespace) -> str:
    if "(" in options.target and not os.path.isdir(options.target):
        return _view_of_function(options).rstrip("\n")
    if options.json:
        return json.dumps(describe(options.target), indent=2)
    return show(options.target)


def _view_of_function(options: argparse.Namespace) -> str:
    concrete = traced(options.target)
    if options.source:
        return concrete.to_source()
    if options.explain:
        before = get_executor()
        set_executor("native")
        try:
            return concrete.explain()
        finally:
            set_executor(before)
    views = {"loops": concrete.loops, "llvm": concrete.llvm_ir, "asm": concrete.asm}
    view = next((views[name] for name in views if getattr(options, name)), None)
    try:
        return str(concrete.graph) if view is None else view()
    except ValueError as error:
        raise UnimplementedError(str(error)) from error
