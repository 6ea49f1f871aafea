"""`Node`: the description of a data set, and how an iteration over it begins.

A node is never changed. It holds the nodes it is made of, Python values, and tensors:
eager ones, or, where it was made while a function is traced, symbolic ones. `bound`
puts values in the places of these; only then can an iteration start.

An iteration is ``iter(item, None)`` of a function that gives the next element, or None
at the end. An error in one element does not end it, as it would end a generator.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from runtime.core.graph.context import current_graph
from runtime.core.tensor import EagerTensor, SymbolicTensor
from runtime.core.types.identity import IdentitySet
from runtime.data.structure import Array, Element, flat_specs, handle_of
from runtime.ops.random.state import state_for

_Item = TypeVar("_Item")
_P = ParamSpec("_P")

#: Cardinalities of data sets that do not end, and of those whose length nobody knows.
INFINITE = -1
UNKNOWN = -2


class Owned:
    """What belongs to one data set: a data set that is made anew has its own.

    A graph describes a data set once, and makes it each time it runs.
    """

    def __init__(self) -> None:
        self.is_of_graph = current_graph() is not None

    def fresh(self) -> Owned:
        """That of a data set made anew."""
        raise NotImplementedError


class Seeds(Owned):
    """The seed of a node that draws numbers, and how often iterations began to draw."""

    def __init__(self, seed: Any) -> None:
        super().__init__()
        words = state_for(seed, "Dataset").seeds
        if words is None or seed is None:
            # Two numbers of the stream of the global seed, or unforeseeable ones.
            drawn = state_for(None, "Dataset").generator.integers(0, 2**63, 2)
            words = (int(drawn[0]), int(drawn[1]))
        self.words: tuple[int, int] = words
        self.count = 0
        self._is_given = seed is not None

    def fresh(self) -> Owned:
        """A given seed begins again; without one each data set is another one."""
        if not self._is_given:
            return self
        made = copy.copy(self)
        made.count = 0
        return made

    def __repr__(self) -> str:
        return f"<seeds {self.words}>"


class Run:
    """One iteration over a node from start to end, with all that is random in it.

    `random` has the seeds of the nodes that draw numbers, in order, and which of their
    iterations this is. A run that is given them goes through the same elements again.
    """

    def __init__(self, node: Node, random: Sequence[Any] | None = None) -> None:
        found = seeds_in(node)
        if random is None:
            random = [[list(seeds.words), seeds.count] for seeds in found]
            for seeds in found:
                seeds.count += 1
        elif len(random) != len(found):
            raise ValueError(
                f"the iterator was saved with {len(random)} sources of random numbers, "
                f"and the data set has {len(found)}"
            )
        self.random = random
        #: For each of them which that is, and how often it began to draw.
        self._known = dict(zip(found, random))
        self._epochs: WeakKeyDictionary[Seeds, int] = WeakKeyDictionary()

    def generator(self, seeds: Seeds, anew: bool = True) -> np.random.Generator:
        """The stream of numbers of a node, another one each time if `anew`."""
        # Those of data sets that were made meanwhile are fresh.
        words, count = self._known.get(seeds, (seeds.words, 0))
        epoch = self._epochs.get(seeds, 0)
        self._epochs[seeds] = epoch + 1
        place = (count, epoch) if anew else (0, 0)
        key = [word % 2**64 for word in (*words, *place)]
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(key)))


class Node:
    """The description of a data set: its elements, and where they come from."""

    #: As TensorFlow calls data sets of this kind.
    name = "Dataset"
    #: The structure of the specs of an element.
    spec: Any

    def start(self, run: Run) -> Iterator[Element]:
        """The flat elements, one by one. An error in one does not end the iteration."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """The number of elements, `INFINITE` or `UNKNOWN`."""
        return UNKNOWN

    def has_blocks(self) -> bool:
        """Whether `blocks` gives the elements faster than `start` does."""
        return False

    def blocks(self, run: Run, size: int) -> Iterator[Element]:
        """The elements in blocks of about `size`, each stacked along a first axis.

        No block is empty. Elements, their order and what is drawn for them are those of
        `start`.
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.name


class OfSource(Node):
    """A node with the elements of another, or as many as that has."""

    def __init__(self, source: Node) -> None:
        self.source = source
        self.spec = source.spec

    def cardinality(self) -> int:
        """That of the source."""
        return self.source.cardinality()


class Argument(Node):
    """What stands for a data set that is only known when the graph runs."""

    name = "Dataset"

    def __init__(self, tensor: SymbolicTensor, spec: Any) -> None:
        self.tensor = tensor
        self.spec = spec


# --- what is in nodes ----------------------------------------------------------------


def _values_in(value: Any) -> Iterator[Any]:
    """A value, and what a node, tuple or list has in it, however deep."""
    yield value
    parts: Iterable[Any] = value if type(value) in (tuple, list) else ()
    for part in vars(value).values() if isinstance(value, Node) else parts:
        yield from _values_in(part)


def seeds_in(node: Node) -> list[Seeds]:
    """All sources of random numbers in a node, also in functions that give nodes."""
    found: dict[Seeds, None] = {}
    for value in _values_in(node):
        if isinstance(value, Seeds):
            found.setdefault(value)
        elif hasattr(value, "nodes_within"):
            inner = value.nodes_within()
            found |= dict.fromkeys(seed for each in inner for seed in seeds_in(each))
    return list(found)


# --- symbolic tensors in nodes --------------------------------------------------------


def symbolic_parts(node: Node) -> list[SymbolicTensor]:
    """The symbolic tensors that a node and those within it depend on, each once."""
    values = _values_in(node)
    return list(IdentitySet(v for v in values if isinstance(v, SymbolicTensor)))


def bound(node: Node, values: Mapping[int, Array]) -> Node:
    """The node with arrays in the places of its symbolic tensors, by their ids."""
    owned: dict[Owned, Owned] = {}

    def put(value: Any) -> Any:
        if isinstance(value, Owned):
            if value.is_of_graph and value not in owned:
                owned[value] = value.fresh()
            return owned.get(value, value)
        if isinstance(value, Argument):
            return handle_of(values[id(value.tensor)])
        if isinstance(value, SymbolicTensor):
            return EagerTensor(np.asarray(values[id(value)]))
        if isinstance(value, Node):
            fields = {name: put(part) for name, part in vars(value).items()}
            if all(fields[name] is part for name, part in vars(value).items()):
                return value
            made = copy.copy(value)
            vars(made).update(fields)
            return made
        if type(value) in (tuple, list):
            parts = [put(part) for part in value]
            same = all(new is old for new, old in zip(parts, value))
            return value if same else type(value)(parts)
        return value

    found: Node = put(node)
    return found


def sticky(generator: Callable[_P, Iterator[_Item]]) -> Callable[_P, Iterator[_Item]]:
    """Have what a generator raised be raised again and again.

    A generator that has raised says that it has ended, and whoever goes on after errors
    would take that for the end of the data set.
    """

    @functools.wraps(generator)
    def begin(*args: _P.args, **kwargs: _P.kwargs) -> Iterator[_Item]:
        source = generator(*args, **kwargs)
        failure: Exception | None = None

        def item() -> _Item | None:
            nonlocal failure
            if failure is None:
                try:
                    return next(source, None)
                except Exception as error:
                    failure = error
            raise failure

        return iter(item, None)

    return begin


#: Blocks are at most so large, where one element is not.
_BLOCK_BYTES = 1 << 18
_BLOCK_ROWS = 1024


def block_rows(spec: Any, multiple: int = 1) -> int:
    """How many elements a block should have: some multiple of a number."""
    specs = flat_specs(spec)
    width = sum((s.shape.num_elements() or 1) * max(s.dtype.size, 8) for s in specs)
    count = min(_BLOCK_ROWS, _BLOCK_BYTES // max(1, width))
    return max(1, count // multiple) * multiple


def rows(array: Array) -> Iterator[Array]:
    """The items along the first axis; scalars are arrays of rank 0."""
    # The Ellipsis gives a 0-d array where an index alone gives a scalar.
    return (array[index, ...] for index in range(len(array)))
