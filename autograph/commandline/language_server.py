"""The server behind ``autograph lsp``, on pygls (the extra ``lsp``).

It looks at the text of the open documents, saved or not, and executes none of it.
"""

from __future__ import annotations

import ast
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import ServerTextPosition, ServerTextRange, TextDocument

from .._version import __version__
from ..diagnostics import Diagnostic
from ..errors import AutographError, TargetError
from ..pipeline import convert_module
from ..source.text import Source
from .check import codes_for, findings_in_text
from .configuration import Configuration, nearest_configuration
from .failures import failure
from .findings import NOTES, columns, text_of
from .statements import explained_text

SHOW_CONVERTED = "autograph.showConverted"


def new_server() -> LanguageServer:
    """A server that answers for the documents of one editor."""
    server = LanguageServer("autograph", __version__)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def check(params: Any) -> None:
        document = server.workspace.get_text_document(params.text_document.uri)
        _publish(server, document.uri, list(_diagnostics(document)))

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def forget(params: types.DidCloseTextDocumentParams) -> None:
        _publish(server, params.text_document.uri, [])

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        document = server.workspace.get_text_document(params.text_document.uri)
        return _hover(document, params.position.line + 1)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        document = server.workspace.get_text_document(params.text_document.uri)
        return list(_lenses(document))

    @server.command(SHOW_CONVERTED)
    async def show_converted(uri: str, qualname: str) -> str:
        document = server.workspace.get_text_document(uri)
        text = _converted(document, qualname)
        window = server.client_capabilities.window
        if window is not None and window.show_document is not None:
            name = f"autograph-{qualname.rpartition('.')[2]}-"
            descriptor, path = tempfile.mkstemp(".py", name)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            shown = types.ShowDocumentParams(from_fs_path(path) or "")
            await server.window_show_document_async(shown)
        return text

    return server


def _publish(server: LanguageServer, uri: str, found: list[types.Diagnostic]) -> None:
    params = types.PublishDiagnosticsParams(uri, found)
    server.text_document_publish_diagnostics(params)


def _path(document: TextDocument) -> str:
    return to_fs_path(document.uri) or document.uri


def _diagnostics(document: TextDocument) -> Iterator[types.Diagnostic]:
    """The findings in a document, with those about the configuration at its start."""
    path = _path(document)
    try:
        codes = codes_for(nearest_configuration(os.path.dirname(path)))
    except TargetError as error:
        yield from (
            _diagnostic(one._replace(location=None), document)
            for one in error.diagnostics
        )
        codes = codes_for(Configuration())
    try:
        found = findings_in_text(document.source, path)
    except Exception as error:
        found = list(failure(error)[1])
    for finding in found:
        if codes.has(finding.code):
            yield _diagnostic(finding, document)


def _diagnostic(finding: Diagnostic, document: TextDocument) -> types.Diagnostic:
    severity = types.DiagnosticSeverity
    return types.Diagnostic(
        range=_range(finding, document),
        message=f"{finding.title}: {text_of(finding)}",
        severity=severity.Information if finding.code in NOTES else severity.Error,
        code=finding.code,
        source="autograph",
    )


def _range(finding: Diagnostic, document: TextDocument) -> types.Range:
    location = finding.location
    if location is None:
        top = types.Position(0, 0)
        return types.Range(top, top)
    first, last = columns(finding)
    line = location.lineno - 1
    start = ServerTextPosition(line, first - 1)
    end = ServerTextPosition(line, last - 1)
    return document.range_to_client_units(ServerTextRange(start, end))


def _hover(document: TextDocument, line: int) -> types.Hover | None:
    """What becomes of the statement that begins on a line."""
    try:
        found = explained_text(Source(document.source, _path(document)))
    except AutographError:
        return None
    notes = next((one.notes for one in found if one.line == line), ())
    if not notes:
        return None
    text = "\n".join(["**autograph**", "```text", *notes, "```"])
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))


def _lenses(document: TextDocument) -> Iterator[types.CodeLens]:
    try:
        tree = ast.parse(document.source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for line, qualname in _functions(tree, ""):
        at = types.Position(line - 1, 0)
        command = types.Command(
            title="show converted",
            command=SHOW_CONVERTED,
            arguments=[document.uri, qualname],
        )
        yield types.CodeLens(types.Range(at, at), command)


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[int, str]]:
    """The outermost functions and methods: lines and qualified names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield child.lineno, f"{prefix}{child.name}"
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.stmt):
            yield from _functions(child, prefix)


def _converted(document: TextDocument, qualname: str) -> str:
    """The converted code of a function, or why there is none, as a comment."""
    try:
        conversion = convert_module(Source(document.source, _path(document)))
        return conversion.of(qualname).text
    except AutographError as error:
        return "".join(f"# {line}\n" for line in str(error).splitlines())
