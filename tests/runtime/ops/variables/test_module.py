"""Modules find what is in their attributes, and name it."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import pytest

import runtime as tf
from runtime.ops.variables import Module, Variable


class Pair(NamedTuple):
    first: Any
    second: Any


class Dense(Module):
    def __init__(self, name: str = "dense") -> None:
        super().__init__(name)
        with self.name_scope:
            self.weight = Variable(1.0, name="weight")
        self.bias = Variable(0.0, name="bias", trainable=False)


class TwoLayers(Module):
    def __init__(self) -> None:
        self.layers = [Dense(), {"last": Dense()}]
        self.again = self.layers[0]
        self.own = Variable(3, name="own")
        self.me = self


def test_modules_find_their_variables() -> None:
    model = TwoLayers()

    assert [v.name for v in model.variables] == [
        "own:0",
        "bias:0",
        "dense/weight:0",
        "bias:0",
        "dense/weight:0",
    ]
    assert [v.name for v in model.trainable_variables] == [
        "own:0",
        "dense/weight:0",
        "dense/weight:0",
    ]
    assert len(model.non_trainable_variables) == 2
    assert [m.name for m in model.submodules] == ["dense", "dense"]
    assert (model.name, Module("other").name) == ("two_layers", "other")


def holder(**attributes: Any) -> Module:
    module = Module(name="holder")
    for name, value in attributes.items():
        setattr(module, name, value)
    return module


def test_the_order_is_that_of_tensorflow() -> None:
    """Attributes by name, what a module has itself first, then each submodule."""
    leaf, other = holder(), holder()
    b = holder(d=holder(f=leaf))
    c = holder(e=other)
    top = holder(c=c, b=b)

    assert [id(m) for m in top.submodules] == [
        id(m)
        for m in (b, c, b.d, leaf, other)  # type: ignore[attr-defined]
    ]


def test_structures() -> None:
    v = [Variable(i) for i in range(8)]
    module = holder(
        a=(v[0], [v[1]]),
        b={"z": v[3], "y": v[2]},
        c=Pair(v[4], [v[5]]),
        d={2: v[7], 1: v[6]},
        # A set has no order, and is no structure.
        e={v[0].ref()},
        f="text",
    )
    found = module.variables

    assert [item.numpy() for item in found] == list(range(8))


def test_cycles() -> None:
    one, other = holder(), holder()
    one.other, other.one = other, one  # type: ignore[attr-defined]
    loop: list[Any] = [Variable(1)]
    loop.append(loop)
    one.loop = loop  # type: ignore[attr-defined]

    assert one.submodules == (other,)
    assert len(other.variables) == 1


def test_what_is_not_asked() -> None:
    class Careful(Module):
        _TF_MODULE_IGNORED_PROPERTIES = (
            frozenset({"hidden"}) | Module._TF_MODULE_IGNORED_PROPERTIES
        )
        of_the_class = Variable(0)

        def __init__(self) -> None:
            self.hidden, self.shown = Variable(1), Variable(2)

        @property
        def computed(self) -> Any:
            raise AssertionError

    assert [v.numpy() for v in Careful().variables] == [2]


def test_slots() -> None:
    class Slotted(Module):
        __slots__ = ("unset", "weight")

        def __init__(self) -> None:
            self.weight = Variable(1)

    assert len(Slotted().variables) == 1


@pytest.mark.parametrize("name", ["", "a b", "1st", "a/b", "ä"])
def test_names_are_identifiers(name: str) -> None:
    with pytest.raises(ValueError, match="is not the name of a module"):
        Module(name)


def test_name_scopes() -> None:
    with tf.name_scope("outer"):
        layer = Dense("layer")
    with layer.name_scope as scope, layer.name_scope:
        again = Variable(1, name="again")

    assert (scope, again.name) == ("outer/layer/", "outer/layer/again:0")
    assert layer.weight.name == "outer/layer/weight:0"
    with TwoLayers().name_scope as scope:
        assert scope == "two_layers/"


class Lazy(Module):
    v: Any = None

    @Module.with_name_scope
    def __call__(self, x: Any) -> Any:
        """Add or subtract."""
        if self.v is None:
            self.v = Variable(1.0, name="v")
        if tf.reduce_sum(x) > 0:
            result = x + self.v
        else:
            result = x - self.v
        return result


def test_methods_in_the_name_scope() -> None:
    eager, staged = Lazy(), Lazy("staged")
    call = tf.function(staged)
    inputs = [tf.constant(1.0), tf.constant(-1.0)]

    assert [eager(x).numpy() for x in inputs] == [2, -2]
    assert [call(x).numpy() for x in inputs] == [2, -2]
    assert (eager.v.name, staged.v.name) == ("lazy/v:0", "staged/v:0")
    assert (Lazy.__call__.__name__, Lazy.__call__.__doc__) == (
        "__call__",
        "Add or subtract.",
    )


def test_name_scopes_and_functions_go_together() -> None:
    class Both(Module):
        v: Any = None

        def build(self, x: Any) -> Any:
            if self.v is None:
                self.v = Variable(1.0, name="v")
            return self.v + x

        inside = tf.function(Module.with_name_scope(build))
        outside = Module.with_name_scope(tf.function(build))

    for method in ("inside", "outside"):
        both = Both("both")
        for _ in range(2):
            assert getattr(both, method)(tf.constant(2.0)).numpy() == 3
        assert both.v.name == ("both/v:0" if method == "inside" else "v:0")


def test_functions_see_variables_that_are_added() -> None:
    class Net(Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [Variable(1)]

        @tf.function
        def total(self) -> Any:
            total = tf.constant(0)
            for variable in self.variables:
                total += variable
            return total

    net, part = Net(), Net()
    totals = [net.total().numpy()]
    net.layers.append(Variable(10))
    totals.append(net.total().numpy())
    net.part = part  # type: ignore[attr-defined]
    totals.append(net.total().numpy())
    part.layers[0] = Variable(5)
    totals.append(net.total().numpy())

    assert totals == [1, 11, 12, 16]
    assert net.total().numpy() == 16
    assert net.total.experimental_get_tracing_count() == 4


def test_copies_have_variables_of_their_own() -> None:
    model = TwoLayers()
    other = copy.deepcopy(model)
    other.own.assign(5)

    assert model.own.numpy() == 3
    assert [v.name for v in other.variables] == [v.name for v in model.variables]
