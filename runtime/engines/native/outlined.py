"""Loops that become functions of a range of their iterations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import llvmlite.ir as ir

from runtime.engines.native.types import I32, I64, POINTER
from runtime.engines.native.values import Dim, Register

#: From so many loops on a function is long: LLVM takes seconds for twice as many.
LONG = 200

#: Instructions whose only effect is their result, or where the function goes on.
PLAIN = frozenset(
    """add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv
    frem fneg icmp fcmp select phi br load getelementptr trunc zext sext fptrunc fpext
    fptoui fptosi uitofp sitofp bitcast extractvalue insertvalue extractelement
    insertelement shufflevector""".split()  # noqa: SIM905
)

#: Functions of LLVM that write to where their first argument points.
_WRITERS = ("llvm.memcpy", "llvm.memset")


class Loop(NamedTuple):
    """A loop that has been written."""

    #: The block that goes to it, its first one, and the one behind it.
    before: Any
    head: Any
    done: Any
    #: Its number of iterations, the one that runs, and whether there is a next one.
    count: Dim
    i: Any
    again: Any
    #: What it carries on, at the end, and whether iterations do not depend on others.
    results: Sequence[Register]
    is_parallel: bool
    #: All its blocks.
    blocks: Sequence[Any] = ()

    def instructions(self) -> Iterator[Any]:
        """All that it does."""
        for block in self.blocks:
            yield from block.instructions


class Outlined:
    """A loop as a function ``i32 f(ptr context, i64 from, i64 to)``.

    The context has the registers that the loop needs of the function around it. Memory
    of that function that nothing but the loop uses becomes memory of the new one.
    """

    def __init__(self, builder: Any, loop: Loop) -> None:
        self._builder = builder
        self._loop = loop
        #: The registers, the memory, and the statuses of blocks that return one: by the
        #: ids of these, which other functions have.
        self._registers: dict[int, Register] = {}
        self._cells: dict[int, Register] = {}
        self._exits: dict[int, int] = {}

    # --- whether it is possible -------------------------------------------------------

    def is_callable(self) -> bool:
        """Whether the loop can be called as a whole: nothing of it is used behind it.

        It may store to any memory, which it is given the pointers to.
        """
        if self._loop.results:
            return False
        own = self._own
        return all(
            each.opname in ("call", "store", *PLAIN)
            and all(self._may_take(x) for x in _operands(each) if id(x) not in own)
            for each in self._loop.instructions()
        )

    @property
    def _own(self) -> set[int]:
        """The ids of what belongs to the loop, and of the blocks around it."""
        own = {id(each) for each in self._loop.instructions()}
        own |= {id(each) for each in self._loop.blocks}
        return own | {id(self._loop.before), id(self._loop.done)}

    def _may_take(self, operand: Any) -> bool:
        """As `_may_need`, for all memory."""
        if isinstance(operand, ir.Block):
            return self._may_need(operand)
        if isinstance(operand, (ir.Instruction, ir.Argument)):
            self._registers[id(operand)] = operand
        return True

    def is_possible(self, into: Collection[Any]) -> bool:
        """Whether others see nothing of the loop but what it stores to some arrays."""
        pointers = {id(array.pointer) for array in into}
        own = self._own
        return all(
            self._is_plain(each, pointers)
            and all(self._may_need(x) for x in _operands(each) if id(x) not in own)
            for each in self._loop.instructions()
        )

    def _is_plain(self, instruction: Any, pointers: Collection[int]) -> bool:
        name = instruction.opname
        if name == "call" and not instruction.callee.name.startswith(_WRITERS):
            # A function of numbers, as those of LLVM and of the C library.
            _, *given = instruction.operands
            types = {type(value.type) for value in [instruction, *given]}
            return bool(given) and not types & {ir.PointerType, ir.VoidType}
        if name != "call" and name != "store":
            return name in PLAIN
        begin = _begin_of(instruction.operands[1], pointers)
        return id(begin) in pointers or _is_cell(begin)

    def _may_need(self, operand: Any) -> bool:
        """Whether the loop may use what is not its own: if so, it is noted."""
        if isinstance(operand, ir.Block):
            statuses = {id(b): status for status, b in self._builder.exits.items()}
            if id(operand) not in statuses:
                return False
            self._exits[id(operand)] = statuses[id(operand)]
        elif _is_cell(operand):
            if id(operand) not in self._cells and not self._is_private(operand):
                return False
            self._cells[id(operand)] = operand
        elif isinstance(operand, (ir.Instruction, ir.Argument)):
            self._registers[id(operand)] = operand
            return not _is_cell(_begin_of(operand))
        return True

    def _is_private(self, cell: Any) -> bool:
        """Whether nothing but one iteration uses memory of the function."""
        if not self._loop.is_parallel:
            return False
        own = {id(block) for block in self._loop.blocks}
        others = [b for b in self._builder.function.blocks if id(b) not in own]
        return not any(
            operand is cell
            for block in others
            for each in block.instructions
            for operand in _operands(each)
        )

    # --- what it becomes --------------------------------------------------------------

    def share(self, chunk: Register, parts: Register | None) -> None:
        """Have threads run chunks of it, at the end of the block before it.

        What chunks carry on is written to `parts`.
        """
        if parts is not None:
            self._registers.update({id(each): each for each in (parts, chunk)})
        context = self._filled_context()
        module = self._builder.module
        typ = ir.FunctionType(I32, [POINTER, POINTER, I64, I64])
        known = module.globals.get("native_share")
        run = known or ir.Function(module, typ, "native_share")
        count = self._builder.dim(self._loop.count)
        self._go_on(run, [self._moved(chunk, parts), context, count, chunk])

    def call(self, cells: Iterable[Any]) -> None:
        """Have it called where the function goes to it; `cells` go along."""
        loop, write = self._loop, self._builder.ir
        self._cells = {id(cell): cell for cell in cells}
        self._registers = {
            key: each for key, each in self._registers.items() if key not in self._cells
        }
        here, entry = write.block, self._builder.function.append_basic_block("call")
        write.position_at_end(entry)
        context, count = self._filled_context(), self._builder.dim(loop.count)
        before = loop.before.terminator
        function = self._moved(count, None)
        function.attributes.add("noinline")
        before.operands = [
            entry if each is loop.head else each for each in before.operands
        ]
        self._go_on(function, [context, I64(0), count])
        write.position_at_end(here)

    def _filled_context(self) -> Register:
        """Memory with the registers that the loop needs."""
        write, context = self._builder.ir, self._builder.cell(self._context_type)
        for place, register in enumerate(self._registers.values()):
            write.store(register, self._field(write, context, place))
        return context

    def _go_on(self, function: Any, arguments: Sequence[Any]) -> None:
        """Call a function, and go on behind the loop unless that fails."""
        write = self._builder.ir
        status = write.call(function, arguments)
        if self._exits:
            failed = write.icmp_signed("!=", status, I32(0))
            with write.if_then(failed, likely=False):
                write.ret(status)
        write.branch(self._loop.done)

    @property
    def _context_type(self) -> Any:
        types = [register.type for register in self._registers.values()]
        return ir.LiteralStructType(types)

    def _field(self, write: Any, context: Register, place: int) -> Register:
        """Where a register lies in the context."""
        at = [I32(0), I32(place)]
        return write.gep(context, at, source_etype=self._context_type)

    def _moved(self, chunk: Register, parts: Register | None) -> Any:
        """The new function, to which all instructions of the loop move."""
        loop, function = self._loop, self._new_function()
        context, begin, end = function.args
        entry = function.append_basic_block("part")
        write = ir.IRBuilder(entry)
        new: dict[int, Any] = {id(loop.before): entry}
        for place, (key, register) in enumerate(self._registers.items()):
            field = self._field(write, context, place)
            new[key] = write.load(field, typ=register.type)
            if self._builder.record is not None:
                self._builder.record.outside[id(new[key])] = register
        write.branch(loop.head)
        for key, status in {id(loop.done): 0, **self._exits}.items():
            new[key] = function.append_basic_block("end")
            ir.IRBuilder(new[key]).ret(I32(status))
        if parts is not None:
            write.position_at_start(new[id(loop.done)])
            place = write.sdiv(begin, new[id(chunk)])
            typ = loop.results[0].type
            at = write.gep(new[id(parts)], [place], source_etype=typ)
            write.store(loop.results[0], at)
        for instruction in loop.instructions():
            _replace(instruction, new)
        loop.i.incomings[0] = begin, entry
        loop.again.operands = [loop.again.operands[0], end]
        self._move_blocks(function)
        return function

    def _new_function(self) -> Any:
        module, old = self._builder.module, self._builder.function
        typ = ir.FunctionType(I32, [POINTER, I64, I64])
        name = module.get_unique_name(f"{old.name}.loop")
        function = ir.Function(module, typ, name)
        function.linkage = "internal"
        # Registers keep their names when they move here.
        function.scope = old.scope
        for argument, name in zip(function.args, ("context", "from", "to")):
            argument.name = name
        return function

    def _move_blocks(self, function: Any) -> None:
        old, entry = self._builder.function, function.entry_basic_block
        for cell in self._cells.values():
            cell.parent.instructions.remove(cell)
            cell.parent = entry
            entry.instructions.insert(0, cell)
        for block in self._loop.blocks:
            block.parent = function
        moved = {id(block) for block in self._loop.blocks}
        old.blocks = [block for block in old.blocks if id(block) not in moved]
        function.blocks += self._loop.blocks
        if self._builder.record is not None:
            self._builder.record.move(function, self._loop.instructions())


def split(builder: Any, loops: Sequence[Loop]) -> None:
    """Make functions of the outermost loops of a function that is long.

    What LLVM takes for a function grows with the square of its loops: three minutes for
    a training step of MobileNetV2, a tenth of it for its loops one by one.
    """
    if len(loops) < LONG:
        return
    # Blocks of loops that threads share are in other functions already.
    there = {id(block) for block in builder.function.blocks}
    owner: dict[int, int] = {}
    chosen = {}
    for loop in reversed(loops):
        blocks = {id(block) for block in loop.blocks}
        if blocks <= there and not blocks & owner.keys():
            outlined = Outlined(builder, loop)
            if outlined.is_callable():
                chosen[id(loop.head)] = outlined
                owner.update(dict.fromkeys(blocks, id(loop.head)))
    cells, needed = _crossings(builder.function.blocks, owner)
    for head, outlined in chosen.items():
        if head not in needed:
            outlined.call(cells[head])


def _crossings(
    blocks: Sequence[Any], owner: dict[int, int]
) -> tuple[dict[int, list[Any]], set[int | None]]:
    """By the owners of blocks: the memory that only one of them uses. And those who
    compute what is used outside.
    """
    makers = {
        id(each): owner.get(id(block))
        for block in blocks
        for each in block.instructions
    }
    users: dict[int, set[int | None]] = defaultdict(set)
    cells, needed = {}, set[int | None]()
    for block in blocks:
        user = owner.get(id(block))
        for operand in [x for each in block.instructions for x in _operands(each)]:
            maker = makers.get(id(operand))
            if maker not in (None, user):
                needed.add(maker)
            if _is_cell(operand):
                cells[id(operand)] = operand
                users[id(operand)].add(user)
    found: dict[int, list[Any]] = defaultdict(list)
    for key, by in users.items():
        (one,) = by if len(by) == 1 else (None,)
        if one is not None:
            found[one].append(cells[key])
    return found, needed


def _is_cell(operand: Any) -> bool:
    """Whether a register is the pointer to memory of the function."""
    return getattr(operand, "opname", "") == "alloca"


def _begin_of(pointer: Register, known: Collection[int] = ()) -> Register:
    """What a pointer was computed of, or a known one on the way there, by its id."""
    while id(pointer) not in known:
        if getattr(pointer, "opname", "") != "getelementptr":
            break
        pointer = pointer.pointer
    return pointer


def _operands(instruction: Any) -> list[Any]:
    """What an instruction refers to: registers, constants, functions and blocks."""
    if instruction.opname == "phi":
        return [each for pair in instruction.incomings for each in pair]
    return list(instruction.operands)


def _replace(instruction: Any, new: dict[int, Any]) -> None:
    """Have an instruction refer to other registers and blocks."""

    def found(old: Any) -> Any:
        return new.get(id(old), old)

    if instruction.opname == "phi":
        pairs = instruction.incomings
        instruction.incomings = [(found(value), found(at)) for value, at in pairs]
        return
    instruction.operands = [found(operand) for operand in instruction.operands]
    if instruction.opname == "getelementptr":
        instruction.pointer, *instruction.indices = instruction.operands
