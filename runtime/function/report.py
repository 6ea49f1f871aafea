"""What `autograph report` shows of a graph: see `autograph.verification.library`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from linecache import getline
from typing import Any

from runtime.core.graph.editing import nested_graphs
from runtime.core.graph.labels import find_labels
from runtime.engines.door import numpy_source
from runtime.engines.native.library import load as load_llvmlite
from runtime.engines.numpy_source.profile import profile
from runtime.function.concrete import ConcreteFunction
from runtime.function.show import trace

#: How many nodes are drawn: with pan and zoom, more than in a notebook.
_NODES = 400
#: Ops that may be the last ones of a line, and not what it assigns.
_UNNAMED = {"Const", "RequireBound", "While"}
#: The line of the program that the lines of LLVM below are of.
_COMMENT = re.compile(r"; (.+?:\d+): ")

Place = tuple[str, int]
#: A line of code, and the lines of the user's program that it computes.
Placed = tuple[str, Sequence[Place]]
Arguments = tuple[Sequence[Any], Mapping[str, Any]]


def report(
    f: Any, specs: Arguments = ((), {}), call: Arguments | None = None
) -> dict[str, Any]:
    """The graph of a function for specs, the code that runs it, and the times of its
    lines in a call, for JSON.
    """
    concrete = trace(f, *specs)
    places: dict[Place, int] = {}

    def number(place: Place) -> int:
        return places.setdefault((place[0], place[1]), len(places))

    values = _values(concrete, number)
    executable = numpy_source(concrete.graph)
    stages = {"NumPy source": _numpy(executable)}
    if find_spec("llvmlite") is not None:
        stages |= _native(concrete, places)
    return {
        "signature": concrete.pretty_printed_signature(),
        "stages": [
            [title, [[text, [*map(number, own)]] for text, own in lines]]
            for title, lines in stages.items()
        ],
        "values": values,
        "drawing": concrete.graph.to_svg(_NODES),
        "times": call and _times(concrete, executable, call, number),
        "places": list(places),
    }


def _numpy(executable: Any) -> Sequence[Placed]:
    places = executable.all_places()
    lines = executable.source.splitlines() or ["# nested too deeply to be source"]
    return [(text, places.get(number, ())) for number, text in enumerate(lines, 1)]


def _native(
    concrete: ConcreteFunction, places: Iterable[Place]
) -> dict[str, Sequence[Placed]]:
    load_llvmlite()
    from runtime.engines.native.show import placed_loops

    names = {f"{os.path.basename(file)}:{line}": (file, line) for file, line in places}

    def llvm() -> Iterator[Placed]:
        own: list[Place] = []
        for text in concrete.llvm_ir().splitlines():
            if comment := _COMMENT.match(text):
                own = [names[comment[1]]] if comment[1] in names else []
            yield text, own
            own = [] if text == "}" else own

    try:
        return {"Native loops": placed_loops(concrete.graph), "LLVM": list(llvm())}
    except ValueError as error:
        return {"Native loops": [(str(error), ())]}


def _values(
    concrete: ConcreteFunction, number: Callable[[Place], int]
) -> list[tuple[int, str]]:
    """What lines compute: ``total: float32[]``, or a type of what has no name."""
    found: dict[tuple[int, str], None] = {}
    types: dict[int, str] = {}
    graphs = list(nested_graphs(concrete.graph))
    tests = {id(n.attrs.get("cond_graph")) for graph in graphs for n in graph.nodes}
    for graph in graphs:
        labels, last = find_labels(graph.nodes), dict[int, str]()
        named: dict[tuple[int, str], str] = {}
        for node in graph.nodes:
            if node.location is None or not node.outputs:
                continue
            place = number(node.location)
            last[place] = node.outputs[-1].spec.describe()
            for tensor in node.outputs:
                name = labels.get(tensor)
                if name is None or node.op in _UNNAMED or id(graph) in tests:
                    continue
                # A loop takes its element first, and counts last.
                if not getline(*node.location).lstrip().startswith("for "):
                    named.pop((place, name), None)
                named.setdefault((place, name), tensor.spec.describe())
        found |= {(p, f"{name}: {text}"): None for (p, name), text in named.items()}
        types = last | types
    known = {place for place, _ in found}
    return [*found, *(item for item in types.items() if item[0] not in known)]


def _times(
    concrete: ConcreteFunction,
    executable: Any,
    call: Arguments,
    number: Callable[[Place], int],
) -> dict[str, Any]:
    how = "Times of one call of the NumPy source; measuring adds 1 µs to each step"
    try:
        tensors = [*concrete._bind(call[0], dict(call[1])), *concrete._captured]
        found = profile(executable, [tensor._array for tensor in tensors], 1)
    except Exception as error:  # the program's own, for these arguments
        return {"how": f"No times: {type(error).__name__}: {error}", "lines": []}
    lines = [line for line in found.lines if line.line]
    own = [
        (number((line.filename, line.line)), line.seconds, line.runs) for line in lines
    ]
    return {"how": how, "lines": own}
