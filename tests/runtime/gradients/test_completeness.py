"""Every op has a rule, a decomposition, or a reason to have no gradient."""

from __future__ import annotations

import runtime as tf
from runtime.gradients.control_flow import RULES
from runtime.gradients.registry import GRADIENTS, NO_GRADIENT, PARTIALS, REWRITES
from runtime.ops import record

#: Families of ops about things that have no derivatives, or without results.
WITHOUT = {"text", "check", "state"}
#: What is refused with AG330 where its gradient is needed.
REFUSED = {
    # Derivatives by the parameters of a distribution.
    *("RandomGamma", "RandomPoissonV2", "StatefulRandomBinomial", "RandomUniformInt"),
    *("StatelessRandomBinomial", "StatelessRandomGammaV3", "StatelessRandomPoisson"),
    *("StatelessRandomUniformIntV2", "StatelessShuffle", "RandomShuffle"),
    # Which elements are equal to others decides what there is.
    "UniqueWithCounts",
    # Elements of data sets and what Python computes from them.
    *("DatasetCardinality", "DatasetToSingleElement", "IteratorGetNext"),
    *("IteratorHandle", "IteratorHasNext", "MakeDataset", "MakeIterator"),
    *("ReduceDataset", "PowerModulo", "PrintV2", "PythonInt"),
    # They are in no traced program: the optimiser makes them, or they are its inputs.
    *("AtOnce", "Fused", "Placeholder"),
}


def test_every_op() -> None:
    tf.GradientTape()  # brings the rules
    assert tf.data.Dataset  # brings the ops of data sets
    known = {*GRADIENTS, *PARTIALS, *NO_GRADIENT, *REWRITES, *RULES}
    missing = {
        name
        for name in record.names()
        if name not in known
        and record.get(name).decomposition is None
        and record.get(name).family not in WITHOUT
    }
    assert missing == REFUSED
