"""``autograph report 'file.py::f(float32[100])'``: a page about a staged function.

The page is one file: the template in ``page/`` with its data as JSON, of which its
script makes text, never markup. Its policy allows that script and that style alone.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..diagnostics import Diagnostic
from ..errors import AutographError, StagingError, TargetError
from ..loading.build import write_atomically
from ..loading.source_map import SourceMap
from ..ownership import is_library_path
from .imports import imported, library_specs, split_call
from .output import Reporter
from .targets import TargetName, read_target, spans

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from ..source.text import Source

_DESCRIPTION = """\
Write an HTML page about a function that is staged for the given arguments: its source,
its converted code, its graph and the code that runs, side by side and linked by line.
The module is imported, so its top-level code runs. A TARGET is that of
`autograph verify`, a call in quotes:

  'file.py::function(int32[], float32[?,3], 0.5)'
"""
#: The characters of one code that are shown: more make a page that nobody loads.
_LONGEST = 80_000
_SVG = "{http://www.w3.org/2000/svg}"

Place = tuple[str, int]
#: A line: its number or 0, the text, and the statements of the source it belongs to.
Line = tuple[int, str, list[int]]


def add_command(commands: Any) -> argparse.ArgumentParser:
    """Add ``report`` and its options to the commands."""
    report: argparse.ArgumentParser = commands.add_parser(
        "report",
        help="write an HTML page about a staged function",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    report.set_defaults(command=_run)
    report.add_argument("target", metavar="TARGET")
    report.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        help="the page to write, such as report.html",
    )
    what = "run it with drawn arguments, and show the time of each line"
    report.add_argument("--profile", action="store_true", help=what)
    return report


def _run(arguments: argparse.Namespace, reporter: Reporter) -> int:
    page = report_page(arguments.target, arguments.profile)
    try:
        write_atomically(arguments.output, page.encode("utf-8"))
    except OSError as error:
        title = f"cannot write `{arguments.output}`"
        why = error.strerror or str(error)
        raise TargetError(Diagnostic("AG404", title, why)) from error
    reporter.note(f"wrote {arguments.output}")
    return 0


def report_page(target: str, profile: bool = False) -> str:
    """The page about a target, as HTML.

    Raises:
        TargetError: AG401 to AG403, AG411.
        StagingError: AG412, the function cannot be staged for these arguments.
    """
    from xml.etree import ElementTree

    from ..verification.drawing import sampled

    name, arguments = split_call(target)
    function = imported(name)
    library, specs = library_specs(arguments)
    call = sampled(specs, library, 0) if profile else None
    try:
        record = library.report(function, specs, call and (call.args, call.kwargs))
    except AutographError:
        raise
    except Exception as error:  # of the program, or of the library
        title, why = f"cannot stage {target}", f"{type(error).__name__}: {error}"
        raise StagingError(Diagnostic("AG412", title, why)) from error
    drawing = ElementTree.fromstring(record["drawing"])
    (style,) = drawing.iter(f"{_SVG}style")
    drawing.remove(style)
    return _filled(_data(target, record, drawing), style.text or "")


def _filled(data: Mapping[str, Any], style: str) -> str:
    """The template with its data; `style` is that of the drawing."""
    # Other commands do not wait for these.
    import base64
    import hashlib
    from importlib.resources import files

    template, css, script = (
        (files(__package__) / "page" / f"report.{kind}").read_text(encoding="utf-8")
        for kind in ("html", "css", "js")
    )
    texts = {"style": css + style, "script": script}
    for name, text in list(texts.items()):
        digest = hashlib.sha256(text.encode()).digest()
        texts[f"{name}-hash"] = base64.b64encode(digest).decode()
    # No text in the data can end the element, or begin another.
    texts["data"] = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return re.sub(r"\{\{([a-z-]+)\}\}", lambda match: texts[match[1]], template)


def _data(target: str, record: Mapping[str, Any], drawing: Element) -> dict[str, Any]:
    places: list[Place] = [(file, line) for file, line in record["places"]]
    sources = _Sources(places)
    links = [sources.link(place) for place in places]
    named = {
        f"{os.path.basename(file)}:{line}": link
        for (file, line), link in zip(places, links)
    }
    panes: list[dict[str, Any]] = [
        {"title": "Source", "lines": sources.written},
        {"title": "Converted", "lines": sources.converted},
        {"title": "Graph", "drawing": _tree(drawing, named)},
    ]
    for title, lines in record["stages"]:
        shown: list[Line] = []
        room = _LONGEST
        for number, (text, own) in enumerate(lines, 1):
            room -= len(text)
            if room < 0:
                shown.append((0, f"… {len(lines) - number + 1} more lines", []))
                break
            shown.append((number, text, sorted({links[place] for place in own})))
        panes.append({"title": title, "lines": shown})
    values: dict[int, list[str]] = defaultdict(list)
    for place, text in record["values"]:
        values[links[place]].append(text)
    times = record["times"] or {"how": None, "lines": []}
    spent: dict[int, tuple[float, int]] = {}
    for place, seconds, runs in times["lines"]:
        before = spent.get(links[place], (0.0, 0))
        spent[links[place]] = before[0] + seconds, max(before[1], runs)
    return {
        "title": target,
        "signature": record["signature"],
        "panes": panes,
        "names": sources.names(),
        "values": values,
        "how": times["how"],
        "times": spent,
    }


class _Sources:
    """The definitions of the program that a graph comes from, before and after.

    Lines are linked by the statement that they belong to, which has a number.
    """

    def __init__(self, places: Sequence[Place]) -> None:
        self._links: dict[Place, int] = {}
        #: The line where the statement of each line begins, by files.
        self._statements: dict[str, dict[int, int]] = {}
        self.written: list[Line] = []
        self.converted: list[Line] = []
        by_file: dict[str, list[int]] = defaultdict(list)
        for file, line in places:
            if os.path.isfile(file) and not is_library_path(file):
                by_file[file].append(line)
        for file, lines in by_file.items():
            self._add(file, lines)

    def link(self, place: Place) -> int:
        """The number of the statement that a line belongs to."""
        file, line = place
        line = self._statements.get(file, {}).get(line, line)
        return self._links.setdefault((file, line), len(self._links))

    def names(self) -> list[str]:
        """What the statements are called, by their numbers."""
        return [f"{os.path.basename(file)}:{line}" for file, line in self._links]

    def _add(self, file: str, lines: Sequence[int]) -> None:
        from ..pipeline import convert_module
        from ..printing.line_map import line_map
        from ..source.text import Source

        source = read_target(TargetName("file", file))
        conversion = convert_module(source)
        text, tree = conversion.text, ast.parse(source.text)
        outer: dict[int, int] = {}
        _find_statements(tree, 0, self._statements.setdefault(file, {}), outer)
        after = SourceMap(file, line_map(conversion.tree, text))
        within = _merged(outer, {line for _, line in after.lines})
        names = _definitions(tree, lines)
        self.written += self._rows(source, names, lambda line: [line])
        self.converted += self._rows(
            Source(text, file), names, lambda line: within[after.source_line(line)]
        )

    def _rows(
        self, source: Source, names: Sequence[str], lines_of: Callable[[int], list[int]]
    ) -> Iterator[Line]:
        """Definitions in a text, of whose lines `lines_of` has those of the source."""
        texts = source.text.split("\n")
        found = {span for name in names for span in spans(source, name)}
        yield 0, f"# {os.path.basename(source.filename)}", []
        for first, last in sorted(found) or [(1, len(texts))]:
            for number in range(first, last + 1):
                text = texts[number - 1]
                places = lines_of(number) if text.strip() else []
                own = {self.link((source.filename, place)): None for place in places}
                yield number, text, list(own)
            yield 0, "", []


def _find_statements(
    node: ast.AST, around: int, beginnings: dict[int, int], outer: dict[int, int]
) -> None:
    """Note where the statement of each line begins, of a compound one its header, and
    where the statement around it does.
    """
    if isinstance(node, ast.stmt):
        body = getattr(node, "body", None)
        end = body[0].lineno - 1 if body else node.end_lineno or node.lineno
        beginnings.update((line, node.lineno) for line in range(node.lineno, end + 1))
        outer.setdefault(node.lineno, around)
        around = node.lineno
    for child in ast.iter_child_nodes(node):
        _find_statements(child, around, beginnings, outer)


def _merged(outer: Mapping[int, int], converted: set[int]) -> dict[int, list[int]]:
    """The statements that each converted one stands for, by their lines: itself, and
    those inside that are not statements any more, as in ``x = ag.cond(…)``.
    """
    found = defaultdict(list, {line: [line] for line in converted})
    for line in sorted(outer.keys() - converted):
        around = outer[line]
        while around and around not in converted:
            around = outer[around]
        found[around].append(line)
    return found


def _definitions(tree: ast.Module, lines: Sequence[int]) -> list[str]:
    """The functions, of classes the methods, that have all the lines; else none."""
    found: dict[str, None] = {}
    for line in lines:
        name, node = "", None
        block: Sequence[ast.stmt] = tree.body
        while not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            around = (n for n in block if n.lineno <= line <= (n.end_lineno or 0))
            node = next(around, None)
            if not isinstance(
                node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
            ):
                return []  # in no function: all of the module is shown
            name, block = f"{name}.{node.name}", node.body
        found[name[1:]] = None
    return list(found)


def _tree(element: Element, links: Mapping[str, int]) -> list[Any]:
    """An element of SVG as name, attributes, and texts and elements inside."""
    attributes: dict[str, Any] = dict(element.items())
    told = element.findtext(f"{_SVG}title", "").rpartition("\n")[2]
    if told in links:
        attributes["data-link"] = links[told]
    inside: list[Any] = [element.text] if (element.text or "").strip() else []
    inside += [_tree(each, links) for each in element]
    return [element.tag.removeprefix(_SVG), attributes, *inside]
