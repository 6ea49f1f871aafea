"""Averages that follow variables: ``tf.train.ExponentialMovingAverage``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from runtime.core.graph.context import init_scope
from runtime.ops.convert import cast
from runtime.ops.elementwise.arithmetic import minimum
from runtime.ops.variables import Variable


class ExponentialMovingAverage:
    """Keeps an average of each variable: ``decay * average + (1 - decay) * variable``.

    With `num_updates`, a number of steps, averages of few steps follow faster, by
    ``min(decay, (1 + num_updates) / (10 + num_updates))``. `zero_debias` changes
    nothing: an average begins with the value of its variable.

    >>> import runtime as tf
    >>> x = tf.Variable(1.0)
    >>> average = ExponentialMovingAverage(0.5)
    >>> average.apply([x])
    >>> _ = x.assign(3.0)
    >>> average.apply([x])
    >>> float(average.average(x))
    2.0
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self.name = name
        self._decay, self._count = decay, num_updates
        self._averages: dict[Any, Variable] = {}

    def apply(self, var_list: Iterable[Variable]) -> None:
        """Bring the averages of variables up to date; makes those that are missing.

        Raises TypeError for what is no variable, or none of floats.
        """
        variables = list(var_list)
        for variable in variables:
            if not isinstance(variable, Variable) or not variable.dtype.is_floating:
                raise TypeError(
                    f"averages are of variables of floats, not {variable!r}"
                )
            if variable.ref() not in self._averages:
                # Before the graph that is traced here changes the variable.
                with init_scope():
                    made = Variable(
                        variable.value(), False, name=self._name_of(variable)
                    )
                self._averages[variable.ref()] = made
        for variable in variables:
            average = self._averages[variable.ref()]
            left = cast(self._left(), average.dtype)
            average.assign_sub((average - variable) * left)

    def _left(self) -> Any:
        decay = cast(self._decay, "float32")
        if self._count is not None:
            count = cast(self._count, "float32")
            decay = minimum(decay, (1.0 + count) / (10.0 + count))
        return 1.0 - decay

    def average(self, var: Variable) -> Variable | None:
        """The variable that holds the average; None before `apply`."""
        return self._averages.get(var.ref())

    def average_name(self, var: Variable) -> str:
        """The name of that variable, which saved files have."""
        made = self.average(var)
        return self._name_of(var) if made is None else made.name.split(":")[0]

    def _name_of(self, variable: Variable) -> str:
        return f"{variable.name.split(':')[0]}/{self.name}"

    @property
    def variables(self) -> list[Variable]:
        """The averages."""
        return list(self._averages.values())
