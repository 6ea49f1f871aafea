"""A program for one device, on many: its data are divided, and XLA does the rest.

`Strategy.run` has the program of a replica, which sees its part of a batch alone. Here
the program sees the whole batch, whose rows lie on the devices of a strategy, and has
its variables on each of them. XLA divides the computation, and adds and gathers where a
result needs all rows. So gradients, means, moments of a batch, metrics and random
numbers are those of one device. `Model.fit` trains so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from runtime.core.tensor import Tensor
from runtime.core.types import nest
from runtime.data.dataset import Dataset
from runtime.data.node import seeds_in
from runtime.function.function import function
from runtime.ops.variables import Variable
from runtime.training.distribute.dtensor import copy_to_mesh, relayout
from runtime.training.distribute.mesh import Layout
from runtime.training.distribute.processes import of_first_process
from runtime.training.distribute.replicas import AXIS
from runtime.training.distribute.strategy import OnMesh, as_one_device


def divided(strategy: OnMesh, batch: Any) -> Any:
    """A batch of tensors, the same in all processes, with its rows on the devices.

    All devices have the whole of what cannot be divided evenly: the last batch of an
    epoch, and scalars. They compute with it what one device does.
    """

    def placed(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor) or leaf.dtype.name == "string":
            return leaf
        dims, mesh = leaf.shape.as_list(), strategy.mesh
        if dims and dims[0] and dims[0] % mesh.size == 0:
            return copy_to_mesh(leaf, Layout.batch_sharded(mesh, AXIS, len(dims)))
        return copy_to_mesh(leaf, Layout.replicated(mesh, len(dims)))

    return nest.map_structure(placed, batch)


def on_all_devices(strategy: OnMesh, step: Callable[..., Any]) -> Callable[..., Any]:
    """A function of batches as a program for the devices of a strategy.

    Each process has the whole of its results.
    """
    staged = function(step)

    def replicated(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor) or leaf.shape.rank is None:
            return leaf
        return relayout(leaf, Layout.replicated(strategy.mesh, leaf.shape.rank))

    def program(*args: Any) -> Any:
        with as_one_device():
            return nest.map_structure(replicated, staged(*args))

    return function(program, executor="xla", autograph=False)


def place_variables(strategy: OnMesh, variables: Iterable[Variable]) -> None:
    """Put a copy of each variable on each device, where that has none yet.

    Raises ValueError for a variable of another strategy.
    """
    for variable in variables:
        layout = variable.layout
        if layout is None:
            strategy.place(variable)
        elif layout.mesh != strategy.mesh:
            raise ValueError(
                f"the variable {variable.name!r} is on {layout.mesh}, and is used with "
                f"{strategy.mesh}: one strategy has all variables of a model"
            )


def agree_on_order(strategy: OnMesh, data: Any) -> None:
    """Have all processes go through data in the order of the first process.

    Data sets shuffle by seeds of their own, and Keras shuffles arrays by the numbers of
    NumPy: all processes go on with those of the first one.

    Raises ValueError for data sets that are made in different ways.
    """
    if len(strategy.mesh.processes) == 1:
        return
    np.random.set_state(of_first_process(np.random.get_state()))
    seeds = seeds_in(data._node) if isinstance(data, Dataset) else []
    agreed = of_first_process([(found.words, found.count) for found in seeds])
    if len(agreed) != len(seeds):
        raise ValueError(
            f"the data set of this process shuffles {len(seeds)} times, and that of "
            f"the first one {len(agreed)} times: all have the same data"
        )
    for found, (words, count) in zip(seeds, agreed):
        found.words, found.count = words, count
