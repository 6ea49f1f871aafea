"""The ways between the blocks of a finished function: how its code was nested.

Branches join again, and a loop has one block where it begins and one behind it. Ways
meet at the first block that all of them lead to, where going back to the beginning of a
loop counts as going on behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any

import llvmlite.ir as ir


class Ways:
    """What each block of a function leads to."""

    def __init__(self, function: Any) -> None:
        entry = function.entry_basic_block
        blocks, back = _postorder(entry, targets)
        self._back = {(id(source), id(head)) for source, head in back}
        #: The blocks behind each loop, by the id of the one where it begins.
        self.exits = _exits(blocks, back)
        #: Blocks behind those that they lead to, and these as bits, by their ids.
        self._order, _ = _postorder(entry, self._onwards)
        self._reach: dict[int, int] = {}
        for place, block in enumerate(self._order):
            later = reduce(or_, [self._reach[id(x)] for x in self._onwards(block)], 0)
            is_end = block.terminator.opname == "ret" and not fails(block)
            self._reach[id(block)] = later | (1 << place) if later or is_end else 0

    def _onwards(self, block: Any) -> list[Any]:
        found = []
        for target in targets(block):
            is_back = (id(block), id(target)) in self._back
            found += self.exits[id(target)] if is_back else [target]
        return found

    def join(self, block: Any) -> Any:
        """The first block that all ways from one lead to, but for those that fail."""
        return self._meeting(self._onwards(block))

    def behind(self, head: Any) -> Any:
        """The block behind the loop that begins with one."""
        return self._meeting(self.exits[id(head)])

    def _meeting(self, ways: Iterable[Any]) -> Any:
        reached = [mask for way in ways if (mask := self._reach[id(way)])]
        common = reduce(and_, reached) if reached else 0
        return self._order[common.bit_length() - 1] if common else None


def targets(block: Any) -> list[Any]:
    """The blocks that one goes on to."""
    last = block.terminator
    if last.opname == "switch":
        return [*(target for _, target in last.cases), last.default]
    return [each for each in last.operands if isinstance(each, ir.Block)]


def fails(block: Any) -> bool:
    """Whether a block returns a status, or may do so."""
    last = block.terminator
    return last.opname == "ret" and getattr(last.return_value, "constant", None) != 0


def phis(block: Any) -> list[Any]:
    """What has another value for each way to a block."""
    return [each for each in block.instructions if each.opname == "phi"]


def incoming(phi: Any, source: Any) -> Any:
    """The value of a phi for the way from a block."""
    return next((value for value, block in phi.incomings if block is source), None)


def _postorder(
    entry: Any, following: Callable[[Any], Iterable[Any]]
) -> tuple[list[Any], list[tuple[Any, Any]]]:
    """Blocks behind those that they go on to, and the ways back to open ones."""
    done, back = list[Any](), list[tuple[Any, Any]]()
    is_open = {id(entry): True}
    stack = [(entry, iter(following(entry)))]
    while stack:
        block, rest = stack[-1]
        for each in rest:
            if id(each) not in is_open:
                is_open[id(each)] = True
                stack.append((each, iter(following(each))))
                break
            if is_open[id(each)]:
                back.append((block, each))
        else:
            is_open[id(block)] = False
            done.append(block)
            stack.pop()
    return done, back


def _exits(
    blocks: Sequence[Any], back: Sequence[tuple[Any, Any]]
) -> dict[int, list[Any]]:
    before: dict[int, list[Any]] = {}
    for block in blocks:
        for target in targets(block):
            before.setdefault(id(target), []).append(block)
    inside: dict[int, dict[int, Any]] = {}
    for source, head in back:
        found, waiting = inside.setdefault(id(head), {id(head): head}), [source]
        while waiting:
            block = waiting.pop()
            if id(block) not in found:
                found[id(block)] = block
                waiting += before[id(block)]
    return {
        head: [x for block in own.values() for x in targets(block) if id(x) not in own]
        for head, own in inside.items()
    }
