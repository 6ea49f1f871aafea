"""``break``, ``continue`` and ``return`` where a tensor may decide about them.

A branch that becomes a function of its own cannot jump out of the statements around it.
This pass rearranges the statements so that it need not, and the result is still plain
Python that means the same:

- what follows a branch that leaves moves into the other branch, so that the ``if`` is
  the last statement of its function or loop body;
- a staged loop notes in a flag that it was left: ``did_break``, and
  ``did_return`` with ``return_value``, unless it returns one constant or variable; its
  ``else`` becomes an ``if`` on the flag behind the loop;
- only where neither works (an ``if`` that leaves on some of its paths, or inside
  ``with`` and ``try``) are flags set and the statements that follow guarded.

    for x in xs:                    did_break = False
        if x > 3:                   for x in xs:
            break                       did_break = True if x > 3 else False
        total += x                      if did_break:
                                            break
                                        else:
                                            total += x
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import gast

from ..trees import nodes
from ..trees.names import Namer
from ..trees.visitors import are_same, blocks, clone, with_blocks
from .patterns import Matching
from .selection import LOOPS, Selection, leaves

_SIMPLE = (gast.Constant, gast.Name)


class _Context(NamedTuple):
    """Where the statements stand that are being rearranged.

    ``until``: the flag of the staged loop whose body this is, if it has a ``break``.
    ``in_loop``: this is the body of a staged loop.
    ``soft``: leaving means setting flags only; nothing may jump.
    ``returning``: ``did_return`` has been set to False before.
    ``result``: what it returns then, if that is known; there is no ``return_value``.
    """

    until: str | None = None
    in_loop: bool = False
    soft: bool = False
    returning: bool = False
    result: gast.AST | None = None


class Exits:
    """The pass over one function.

    It notes the flags of staged loops in `Selection.until`.
    """

    def __init__(self, selection: Selection, namer: Namer, matching: Matching) -> None:
        self._selection = selection
        self._matching = matching
        self._namer = namer
        self._done: set[gast.AST] = set()  # jumps whose flag is already set
        self._guards: set[gast.AST] = set()
        self._again: set[gast.AST] = set()  # returns of what is known to be returned
        self._break_flags: dict[int, str] = {}
        self._depth = 0
        self._did_return = ""
        self._return_value = ""
        self._did_continue = ""

    def convert(self, body: list[gast.AST]) -> list[gast.AST]:
        """The rearranged body of a function; the same list if nothing changes."""
        return self._block(body, _Context()) if self._selection.rearranges else body

    # Statements in order -----------------------------------------------------------

    def _block(self, statements: list[gast.AST], ctx: _Context) -> list[gast.AST]:
        out: list[gast.AST] = []
        for position, statement in enumerate(statements):
            rest = statements[position + 1 :]
            new, taken = self._statement(statement, rest, ctx)
            out.extend(new)
            if taken:
                return out
        return statements if are_same(out, statements) else out

    def _statement(
        self, statement: gast.AST, rest: list[gast.AST], ctx: _Context
    ) -> tuple[list[gast.AST], bool]:
        """What replaces a statement, and whether ``rest`` is part of it."""
        if isinstance(statement, (gast.Return, gast.Break, gast.Continue)):
            return self._leave(statement, ctx)
        if isinstance(statement, gast.Match) and self._selection.is_rewritten(
            statement
        ):
            chain = self._matching.chain(statement)
            return self._block(chain + rest, ctx), True
        if isinstance(statement, LOOPS):
            if ctx.soft and leaves(statement):
                self._selection.mark_loop(statement)
            if self._selection.is_rewritten(statement):
                before, loop, after = self._loop(statement, ctx)
                if not after:
                    return [*before, loop], False
                return [*before, loop, *self._block(after + rest, ctx)], True
            return [self._python_loop(statement, ctx)], False
        exits = leaves if ctx.soft else self._selection.exits
        if not exits(statement):
            return [self._children(statement, ctx)], False
        if isinstance(statement, gast.If):
            return self._conditional(statement, rest, ctx), True
        if not rest and not ctx.soft and not getattr(statement, "orelse", None):
            return [self._children(statement, ctx)], True
        return self._guarded(statement, rest, ctx), True

    def _children(self, statement: gast.AST, ctx: _Context) -> gast.AST:
        """The statement with the blocks inside it rearranged."""
        old = blocks(statement)
        new = [self._block(block, ctx) for block in old]
        if are_same(new, old):
            return statement
        if ctx.soft or ctx.in_loop:
            new = self._voided(statement, new, ctx)
        return self._selection.moved(statement, with_blocks(statement, new))

    def _voided(
        self, statement: gast.AST, new: list[list[gast.AST]], ctx: _Context
    ) -> list[list[gast.AST]]:
        """The blocks of a statement.

        If it catches an exception raised while `with` or `finally` cleaned up after a
        jump, the jump is off: the flags are reset.
        """
        flags = self._flags(_leaves_cleaning_up(statement), ctx)
        handlers = getattr(statement, "handlers", ())
        if not flags:
            return new
        if handlers:
            body, *rest = new
            for position, handler in enumerate(handlers):
                reset = self._set_all(flags, handler, value=False)
                rest[position] = [*reset, *rest[position]]
            return [body, *rest]
        if isinstance(statement, (gast.With, gast.AsyncWith)):
            return [[self._with_reset(new[0], flags)]]
        return new

    def _with_reset(self, body: list[gast.AST], flags: Sequence[str]) -> gast.AST:
        """``try: body`` that resets flags when an exception leaves it."""
        at = body[0]
        again = nodes.located(gast.Raise(None, None), at)
        reset = [*self._set_all(flags, at, value=False), again]
        caught = nodes.name("BaseException", at)
        handler = nodes.located(gast.ExceptHandler(caught, None, reset), at)
        return nodes.located(gast.Try(body, [handler], [], []), at)

    def _flags(self, kinds: frozenset[str], ctx: _Context) -> list[str]:
        """The flags that ways of leaving set."""
        flags: list[str] = []
        if ctx.until is not None and ("break" in kinds or "return" in kinds):
            flags.append(ctx.until)
        if "return" in kinds:
            flags.append(self._return_flag())
        if "continue" in kinds and ctx.soft:
            flags.append(self._continue_flag())
        return flags

    # Leaving -----------------------------------------------------------------------

    def _leave(self, statement: gast.AST, ctx: _Context) -> tuple[list[gast.AST], bool]:
        if not ctx.in_loop and not ctx.soft:
            return [statement], False
        jump = [] if ctx.soft else [self._jump(statement)]
        if statement in self._done:
            return jump, True
        if isinstance(statement, gast.Return):
            return [*self._set_return(statement, ctx), *jump], True
        if isinstance(statement, gast.Break):
            assert ctx.until is not None, "a loop that is left has a flag"
            return [self._set(ctx.until, statement), *jump], True
        if not ctx.soft:
            return [statement], True
        return [self._set(self._continue_flag(), statement)], True

    def _jump(self, statement: gast.AST) -> gast.AST:
        jump = nodes.located(gast.Break(), statement)
        self._done.add(jump)
        return jump

    def _set(self, flag: str, at: gast.AST, value: bool = True) -> gast.AST:
        return nodes.assign(flag, nodes.constant(value, at), at)

    def _set_return(self, statement: gast.Return, ctx: _Context) -> list[gast.AST]:
        out: list[gast.AST] = []
        flags = [ctx.until] if ctx.in_loop and ctx.until is not None else []
        flags.append(self._return_flag())
        value = statement.value or nodes.constant(None, statement)
        if statement in self._again:
            flags.pop()
        elif ctx.result is None:
            # The value first: the flag is for what happens once it is there.
            out.append(nodes.assign(self._return_value, value, statement))
        return [*out, *self._set_all(flags, statement, value=True)]

    def _set_all(
        self, flags: Sequence[str], at: gast.AST, value: bool
    ) -> list[gast.AST]:
        if not flags:
            return []
        targets = [nodes.target(flag, at) for flag in flags]
        constant = nodes.constant(value, at)
        return [nodes.located(gast.Assign(targets, constant, None), at)]

    def _return_flag(self) -> str:
        if not self._did_return:
            self._did_return = self._namer.reserve("did_return")
            self._return_value = self._namer.reserve("return_value")
        return self._did_return

    def _continue_flag(self) -> str:
        if not self._did_continue:
            self._did_continue = self._namer.reserve("did_continue")
        return self._did_continue

    def _break_flag(self) -> str:
        """The flag of a loop at the present depth: loops in a row share one."""
        if self._depth not in self._break_flags:
            flag = f"did_break_{self._depth + 1}" if self._depth else "did_break"
            self._break_flags[self._depth] = self._namer.reserve(flag)
        return self._break_flags[self._depth]

    # Loops -------------------------------------------------------------------------

    def _loop(
        self, loop: gast.AST, ctx: _Context
    ) -> tuple[list[gast.AST], gast.AST, list[gast.AST]]:
        """Statements before a staged loop, the loop, and statements after it."""
        kinds = leaves(loop.body)
        before: list[gast.AST] = []
        after: list[gast.AST] = []
        until = None
        if "break" in kinds:
            until = self._break_flag()
            before.append(self._set(until, loop, value=False))
        returns = "return" in kinds
        result = ctx.result if ctx.returning else _same_result(loop.body)
        if returns:
            flag = self._return_flag()
            if not ctx.returning:
                before.append(self._set(flag, loop, value=False))
            after.append(self._returned(loop, result))
        orelse = loop.orelse
        if orelse and until is not None:
            test = nodes.not_(nodes.name(until, loop), loop)
            orelse = [self._selection.mark(nodes.if_(test, orelse, [], orelse[0]))]
        self._depth += 1
        returning = ctx.returning or returns
        inside = _Context(until, True, False, returning, result)
        body = self._block(loop.body, inside)
        self._depth -= 1
        changed = body is not loop.body or loop.orelse
        new = clone(loop, body=body, orelse=[]) if changed else loop
        self._selection.moved(loop, new)
        if until is not None or returns:
            self._selection.until[new] = until or self._did_return
        return before, new, [*after, *orelse]

    def _python_loop(self, loop: gast.AST, ctx: _Context) -> gast.AST:
        """A loop that stays as it is; what leaves it from inside is Python's own."""
        body = self._block(loop.body, _Context())
        orelse = self._block(loop.orelse, ctx)
        if body is loop.body and orelse is loop.orelse:
            return loop
        return clone(loop, body=body, orelse=orelse)

    def _returned(self, at: gast.AST, result: gast.AST | None) -> gast.AST:
        """``if did_return: return return_value``, or what is known to be returned."""
        value = copy.deepcopy(result) or nodes.name(self._return_value, at)
        leave = nodes.return_(value, at)
        self._again.add(leave)
        return self._guard(self._did_return, leave, at)

    def _guard(self, flag: str, leave: gast.AST, at: gast.AST) -> gast.AST:
        guard = nodes.if_(nodes.name(flag, at), [leave], [], at)
        self._guards.add(guard)
        return self._selection.mark(guard)

    # Conditionals ------------------------------------------------------------------

    def _conditional(
        self, statement: gast.If, rest: list[gast.AST], ctx: _Context
    ) -> list[gast.AST]:
        body, orelse = statement.body, statement.orelse
        dead: list[gast.AST] = []
        if _always_jumps(body):
            if _always_jumps(orelse):
                dead = [] if ctx.soft or ctx.in_loop else rest
            else:
                orelse = orelse + rest
        elif _always_jumps(orelse):
            body = body + rest
        elif _is_small(rest):
            body, orelse = body + copy.deepcopy(rest), orelse + rest
        else:
            return self._guarded(statement, rest, ctx)
        new_body, new_orelse = self._block(body, ctx), self._block(orelse, ctx)
        if not new_body and not new_orelse and statement in self._guards:
            return []
        if not new_body:
            new_body = [nodes.located(gast.Pass(), statement)]
        new = clone(statement, body=new_body, orelse=new_orelse)
        return [*self._flagged(self._selection.moved(statement, new), ctx), *dead]

    def _flagged(self, statement: Any, ctx: _Context) -> list[gast.AST]:
        """``did_break = True if test else False`` where a branch sets a flag alone."""
        body, orelse = statement.body, statement.orelse
        is_pattern = statement.test in self._selection.patterns
        if is_pattern or not self._selection.is_rewritten(statement):
            return [statement]
        flag, is_negated = self._flag_set_by(body, ctx), False
        if flag is None:
            flag, is_negated = self._flag_set_by(orelse, ctx), True
            body, orelse = orelse, body
        if ctx.soft and orelse and not isinstance(orelse[0], gast.Pass):
            return [statement]
        is_chain = len(orelse) == 1 and isinstance(orelse[0], gast.If)
        if flag is None or is_chain:
            return [statement]
        test = statement.test
        if is_negated:
            test = nodes.not_(test, test)
        left = statement.orelse if is_negated else statement.body
        value = gast.IfExp(
            test, nodes.constant(True, left[0]), nodes.constant(False, test)
        )
        assign = nodes.assign(flag, nodes.located(value, test), statement)
        if ctx.soft:
            return [assign]
        # The jump stays for the analysis, which must know that a tensor ends the loop;
        # an `if` that does nothing else is not printed.
        guard = nodes.if_(nodes.name(flag, statement), body[1:], orelse, statement)
        return [assign, self._selection.mark(guard)]

    def _flag_set_by(self, statements: list[Any], ctx: _Context) -> str | None:
        """The flag, if all that they do is to set one and leave the loop."""
        jumps = [] if ctx.soft else statements[1:]
        if len(statements) != 1 + len(jumps) or (not ctx.soft and len(jumps) != 1):
            return None
        first = statements[0]
        if not self._done.issuperset(jumps) or not isinstance(first, gast.Assign):
            return None
        flags = (self._did_return, *self._break_flags.values())
        names = [getattr(target, "id", None) for target in first.targets]
        return names[0] if len(names) == 1 and names[0] in flags else None

    def _guarded(
        self, statement: gast.AST, rest: list[gast.AST], ctx: _Context
    ) -> list[gast.AST]:
        """The statement with flags set where it leaves, and the rest under a guard."""
        kinds = leaves(statement)
        out: list[gast.AST] = []
        guards: list[gast.AST] = []
        result = ctx.result if ctx.returning else _same_result([statement])
        if "return" in kinds:
            flag = self._return_flag()
            if not ctx.returning:
                out.append(self._set(flag, statement, value=False))
            guards.append(self._returned(statement, result))
        flags = [ctx.until] if "break" in kinds and ctx.until is not None else []
        if "continue" in kinds:
            flags.append(self._continue_flag())
            out.append(self._set(flags[-1], statement, value=False))
        for flag in flags:
            jump = nodes.located(gast.Continue(), statement)
            if flag == ctx.until:
                jump = self._jump(statement)
            elif ctx.soft:
                self._done.add(jump)
            guards.append(self._guard(flag, jump, statement))
        returning = ctx.returning or "return" in kinds
        soft = _Context(ctx.until, ctx.in_loop, True, returning, result)
        if getattr(statement, "handlers", None) and statement.orelse and guards:
            statement = self._guard_else(statement, guards)
        out.extend(self._softened(statement, soft))
        return [*out, *self._block(guards + rest, ctx)]

    def _softened(self, statement: gast.AST, soft: _Context) -> list[gast.AST]:
        if isinstance(statement, gast.If):
            return self._conditional(statement, [], soft)
        return [self._children(statement, soft)]

    def _guard_else(self, statement: gast.AST, guards: list[gast.AST]) -> gast.AST:
        """``try … else`` whose body sets flags: the else part runs if it set none."""
        orelse = statement.orelse
        for guard in reversed(guards):
            test = nodes.not_(clone(guard.test), guard)
            orelse = [self._selection.mark(nodes.if_(test, orelse, [], orelse[0]))]
        return clone(statement, orelse=orelse)


def _is_small(rest: list[gast.AST]) -> bool:
    """Whether the statements are so short that each branch may have its own copy."""
    if not rest:
        return True
    if len(rest) > 1:
        return False
    (only,) = rest
    if isinstance(only, gast.Return):
        return only.value is None or isinstance(only.value, _SIMPLE)
    return isinstance(only, (gast.Pass, gast.Continue))


def _same_result(statements: list[gast.AST]) -> gast.AST | None:
    """What all ``return`` statements among these give, if that is known behind them.

    It is one constant, or one variable that none of the statements assigns: behind
    them it is what it was, unless `with` or `finally` has code run on the way.
    """
    first, *others = [
        nodes.constant(None, leave) if leave.value is None else leave.value
        for leave in _returns_in(statements)
    ] or [None]
    if first is None or any(gast.dump(first) != gast.dump(v) for v in others):
        return None
    if nodes.is_constant(first):
        return first
    if not isinstance(first, gast.Name) or any(map(_cleaned_up, statements)):
        return None
    inside = (node for statement in statements for node in gast.walk(statement))
    return None if any(_binds(node, first.id) for node in inside) else first


def _binds(node: Any, name: str) -> bool:
    """Whether a node of the tree may give a variable another value."""
    if isinstance(node, gast.Name):
        return node.id == name and not isinstance(node.ctx, gast.Load)
    names = (getattr(node, field, None) for field in ("name", "asname", "rest"))
    return name in (str(bound).partition(".")[0] for bound in names)


def _returns_in(statements: list[gast.AST]) -> Iterator[gast.Return]:
    for statement in statements:
        if isinstance(statement, gast.Return):
            yield statement
        for block in blocks(statement):
            yield from _returns_in(block)


# --- how control leaves -------------------------------------------------------------


def _leaves_cleaning_up(statement: gast.AST) -> frozenset[str]:
    """How control leaves from within statements that clean up on the way out, inside
    the part of a statement from which it catches exceptions.
    """
    caught = getattr(statement, "body", [])
    return frozenset().union(*map(_cleaned_up, caught))


def _cleaned_up(statement: gast.AST) -> frozenset[str]:
    if isinstance(statement, (gast.With, gast.AsyncWith)):
        return leaves(statement)
    if isinstance(statement, (gast.Try, gast.TryStar)) and statement.finalbody:
        return leaves(statement)
    found = frozenset().union(
        *(_cleaned_up(inner) for block in blocks(statement) for inner in block)
    )
    return found & {"return"} if isinstance(statement, LOOPS) else found


def _always_jumps(statements: Sequence[gast.AST]) -> bool:
    """Whether control surely leaves these statements before their end."""
    for statement in statements:
        if isinstance(statement, (gast.Return, gast.Raise, gast.Break, gast.Continue)):
            return True
        if isinstance(statement, gast.If) and statement.orelse:
            if _always_jumps(statement.body) and _always_jumps(statement.orelse):
                return True
        if isinstance(statement, gast.Try) and _always_jumps(statement.finalbody):
            return True
    return False
