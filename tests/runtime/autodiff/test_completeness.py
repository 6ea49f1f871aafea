"""Every op has a gradient that is checked, or a reason to have none."""

from __future__ import annotations

import pytest

import runtime as tf
from runtime.autodiff.control_flow import RULES
from runtime.core.graph import record
from runtime.core.graph.editing import nested_graphs
from runtime.ops.derivatives import GRADIENTS, NO_GRADIENT, PARTIALS, REWRITES
from tests.runtime.autodiff.op_cases import cases
from tests.runtime.autodiff.test_control_flow import BUFFERS
from tests.runtime.autodiff.test_programs import X, plain

#: Families of ops about things that have no derivatives, or without results.
WITHOUT = {"text", "check", "state"}
#: What is refused with AG330 where its gradient is needed.
REFUSED = {
    # Derivatives by the parameters of a distribution.
    *("RandomPoissonV2", "StatefulRandomBinomial", "RandomUniformInt"),
    *("StatelessRandomBinomial", "StatelessRandomPoisson", "StatelessShuffle"),
    *("StatelessRandomUniformIntV2", "RandomShuffle"),
    # Which elements are equal to others decides what there is.
    "UniqueWithCounts",
    # Elements of data sets and what Python computes from them.
    *("DatasetCardinality", "DatasetToSingleElement", "IteratorGetNext"),
    *("IteratorHandle", "IteratorHasNext", "MakeDataset", "MakeIterator"),
    *("ReduceDataset", "PowerModulo", "PrintV2", "PythonInt"),
    # They are in no traced program: the optimiser makes them, or they are its inputs.
    *("Fused", "Placeholder"),
    # What replicas run, and which one it is.
    *("ReplicaId", "ReplicaRun"),
}


def test_every_op() -> None:
    tf.GradientTape()  # brings the rules
    assert tf.data.Dataset  # brings the ops of data sets
    assert tf.image  # and those of pictures
    assert tf.signal
    assert tf.distribute.Strategy
    known = {*GRADIENTS, *PARTIALS, *NO_GRADIENT, *REWRITES, *RULES}
    missing = {
        name
        for name in record.names()
        if name not in known
        and record.get(name).decomposition is None
        and record.get(name).family not in WITHOUT
        # Parts of programs that are native code, in processes that have made some.
        and name not in ("Native", "NativeWithEffects")
    }
    assert missing == REFUSED


#: Ops that are checked by a program, not by `op_cases`: see `programs`.
IN_PROGRAMS = {
    "ListAppend": "list_that_grows",
    "ListExtend": "list_extend",
    "ListGet": "list_items",
    "ListInsert": "list_insert",
    "ListItem": "list_set",
    "ListPut": "dict_with_staged_keys",
    "ListRow": "stack_machine",
    "ListRows": "list_slice",
    "ListSet": "bubble_sort",
    "ListTake": "_sorted",
    "RequireBound": "returns_from_a_loop",
    "RequireSome": "_none_at_first",
    "TensorArrayGatherV3": "_unstacked",
    "TensorArrayGrowV3": "growing_array",
    "TensorArrayReadV3": "array_read_in_a_loop",
    "TensorArrayStackV3": "rnn_with_outputs",
    "TensorArrayWriteV3": "array_of_states",
}
#: Ops with a gradient that have tests of their own.
APART = {
    *("CastExactly", "FusedConv2D"),  # only the optimiser and Python's numbers use them
    # What lowering makes of Conv2D and Conv3D, with their rules.
    *("Convolution", "ConvolutionBackpropFilter", "ConvolutionBackpropInput"),
    *("CheckedMathFunction", "MathFunction"),  # test_library_functions.py
    "EagerPyFunc",  # test_tape.py
    *("MatrixLogarithm", "MatrixSquareRoot"),  # test_matrix_functions.py: by SciPy
    *("RandomGamma", "StatelessRandomGammaV3"),  # test_random.py
    *("AllReduce", "Relayout"),  # tests/runtime/training/distribute
}
#: Ops that give no numbers of floats, though they are made of others.
WITHOUT_FLOATS = {
    *("AssertRelation", "InTopKV2", "IsNone", "IsNotNone", "Multinomial"),
    "StatelessMultinomial",
}


def test_every_gradient_is_checked() -> None:
    tf.GradientTape()
    assert tf.distribute.Strategy
    made = {
        name
        for name in record.names()
        if record.get(name).decomposition is not None
        and name not in NO_GRADIENT
        and record.get(name).family not in WITHOUT
        # Parts of programs that are native code, in processes that have made some.
        and name not in ("Native", "NativeWithEffects")
    }
    found = {*GRADIENTS, *PARTIALS, *REWRITES, *RULES, *made} - WITHOUT_FLOATS
    assert found == {case.op for case in cases()} | {*IN_PROGRAMS} | APART | {*RULES}


@pytest.mark.parametrize("op", IN_PROGRAMS)
def test_programs_apply_what_they_check(op: str) -> None:
    program, x = IN_PROGRAMS[op], tf.constant(X)
    if program.startswith("_"):
        given = [f for f in BUFFERS if f.__name__ == program]
        traced = tf.function(given[0]).get_concrete_function(x, tf.constant(3))
    else:
        traced = tf.function(plain(program)).get_concrete_function(x)
    graphs = nested_graphs(traced.graph)
    assert op in {node.op for graph in graphs for node in graph.nodes}
