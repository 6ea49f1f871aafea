"""The debugger that ``breakpoint()`` enters in a function that is being traced.

It leaves out the frames of this package, and shows the functions that the compiler made
of one user function as a single frame, with the variables of all of them.
"""

from __future__ import annotations

from collections import ChainMap
from pdb import Pdb
from types import FrameType
from typing import Any, cast

from runtime.core.location.frames import is_library, is_user_file, outwards
from runtime.core.location.user_code import is_part


class TracePdb(Pdb):
    """A debugger of the user's functions."""

    def get_stack(self, f: Any, t: Any) -> Any:
        """The frames of the program, one for each of its functions."""
        stack, index = super().get_stack(f, t)
        shown: list[tuple[FrameType, int]] = []
        position = 0
        self.parts: dict[FrameType, list[FrameType]] = {}
        for number, (frame, line) in enumerate(stack):
            if _is_of_program(frame):
                parts = [frame]
                outer = shown[-1][0] if shown else None
                if outer is not None and is_part(frame.f_code, outer.f_code):
                    shown.pop()
                    parts += self.parts[outer]
                self.parts[frame] = parts
                shown.append((frame, line))
            if number <= index:
                position = max(len(shown) - 1, 0)
        return (shown, position) if shown else (stack, index)

    def setup(self, f: Any, tb: Any) -> Any:
        """Start to inspect a stack."""
        result = super().setup(f, tb)
        self._show_variables()
        return result

    def stop_here(self, frame: FrameType) -> bool:
        """Whether to stop in a frame: only in frames of the program."""
        return _is_of_program(frame) and super().stop_here(frame)

    def format_stack_entry(self, frame_lineno: Any, *args: Any) -> str:
        """An entry under the name of the function that the frame is a part of."""
        text = super().format_stack_entry(frame_lineno, *args)
        frame, line = frame_lineno
        name = self.parts.get(frame, [frame])[-1].f_code.co_name
        return text.replace(f"({line}){frame.f_code.co_name}(", f"({line}){name}(", 1)

    def user_call(self, frame: FrameType, argument_list: Any) -> None:
        """Stop where a function is called; parts of a function are no calls."""
        if not self._is_part(frame):
            super().user_call(frame, argument_list)

    def user_return(self, frame: FrameType, return_value: Any) -> None:
        """Stop where a function returns; continue at the end of a part."""
        if self._is_part(frame):
            self.set_step()
        else:
            super().user_return(frame, return_value)

    def _is_part(self, frame: FrameType) -> bool:
        self.get_stack(frame, None)
        return len(self.parts.get(frame, ())) > 1

    def _select_frame(self, number: int) -> None:
        super()._select_frame(number)
        self._show_variables()

    def _show_variables(self) -> None:
        """Let commands see the variables of all parts of the function."""
        frame = cast(FrameType, self.curframe)
        outer = self.parts.get(frame, [frame])[1:]
        if outer:
            maps: list[Any] = [self.curframe_locals, *(f.f_locals for f in outer)]
            self.curframe_locals = ChainMap(*maps)


def _is_of_program(frame: FrameType) -> bool:
    """Whether a frame runs the user's code, or a library that the user's code calls."""
    for outer in outwards(frame):
        filename = outer.f_code.co_filename
        is_generated = outer.f_globals.get("__name__", "").startswith("namedtuple_")
        if not is_library(filename) and not is_generated:
            return is_user_file(filename)
    return True
