"""Graphs of traced functions for TensorBoard, which draws them."""

from __future__ import annotations

from typing import Any

from runtime.core.graph import Graph
from runtime.core.graph.recording import Recorder, begin_recording, end_recording
from runtime.training.summary.writer import emit, protos


class _Calls(Recorder):
    """Collects the graphs of the functions that are called."""

    def __init__(self) -> None:
        self.graphs: dict[int, Graph] = {}

    def called(self, graph: Graph) -> None:
        """Hear that a graph runs."""
        self.graphs.setdefault(id(graph), graph)


_calls: _Calls | None = None


def graph(graph_data: Any) -> Any:
    """Write a graph, which TensorBoard draws: a `Graph`, or the GraphDef of one.

    Gives whether it was written: False where there is no default writer.
    """
    data = _proto(graph_data).SerializeToString()
    return emit([], 0, lambda: {"graph_def": data}, "tf.summary.graph()")


def trace_on(
    graph: bool = True, profiler: bool = False, profiler_outdir: str | None = None
) -> None:
    """Begin to collect the graphs of the functions that this thread calls.

    Raises NotImplementedError for ``profiler=True``: see `ConcreteFunction.profile`.
    """
    global _calls
    if profiler:
        raise NotImplementedError(
            "tf.summary.trace_on(profiler=True): there is no profile for TensorBoard; "
            "f.get_concrete_function(…).profile(…) gives the time of each line"
        )
    trace_off()
    if graph:
        _calls = _Calls()
        begin_recording(_calls)


def trace_off() -> None:
    """Forget what was collected, and collect no more."""
    global _calls
    if _calls is not None:
        end_recording(_calls)
        _calls = None


def trace_export(
    name: str, step: Any = None, profiler_outdir: str | None = None
) -> None:
    """Write the graphs that were collected since `trace_on`, and end that.

    Raises ValueError if nothing is being collected, or no step is known.
    """
    if _calls is None:
        raise ValueError("tf.summary.trace_export() comes after tf.summary.trace_on()")
    graphs = [_proto(found) for found in _calls.graphs.values()]
    trace_off()
    run = protos("compat.proto.config_pb2").RunMetadata()
    for found in graphs:
        of_function = run.function_graphs.add()
        of_function.pre_optimization_graph.CopyFrom(found)
        run.partition_graphs.add().CopyFrom(found)
    summary = protos("compat.proto.summary_pb2").Summary()
    value = summary.value.add(tag=name)
    plugin = value.metadata.plugin_data
    plugin.plugin_name, plugin.content = "graph_run_metadata_graph", b"1"
    tensor = protos("util.tensor_util").make_tensor_proto
    value.tensor.CopyFrom(tensor(run.SerializeToString(), dtype=None))
    emit([], step, lambda: {"summary": summary}, f"tf.summary.trace_export({name!r})")


def _proto(graph_data: Any) -> Any:
    from google.protobuf import text_format

    definition = (
        graph_data.as_graph_def() if isinstance(graph_data, Graph) else graph_data
    )
    proto = protos("compat.proto.graph_pb2").GraphDef
    return text_format.Parse(str(definition), proto())
