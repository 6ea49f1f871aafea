"""``autograph lsp``, as an editor talks to it over its standard input and output."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from autograph.commandline import main as cli

pytest.importorskip("pygls")

from lsprotocol import types
from pygls.lsp.client import LanguageClient

ROOT = str(Path(cli.__file__).parents[2])
PROGRAM = """\
class Till:
    def total(self, prices):
        result = 0
        for price in prices:
            if price > 10:
                result += price
        return result


def 𝛼_evens(numbers):
    for number in (𝛼 := numbers):
        if number % 2 == 0:
            yield number
"""


class Editor:
    """A client that keeps what the server publishes."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.uri = (folder / "till.py").as_uri()
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.shown: list[str] = []

    async def open(self, text: str) -> list[types.Diagnostic]:
        item = types.TextDocumentItem(self.uri, "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.diagnostics()

    async def change(self, text: str) -> list[types.Diagnostic]:
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(2, self.uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )
        return await self.diagnostics()

    async def diagnostics(self) -> list[types.Diagnostic]:
        found = await asyncio.wait_for(self.published.get(), 60)
        assert found.uri == self.uri
        return list(found.diagnostics)

    @property
    def document(self) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri)


def edited(folder: Path, use: Callable[[Editor], Awaitable[Any]]) -> Any:
    """What a coroutine gives that uses an editor with a server of its own."""

    async def session() -> Any:
        client = LanguageClient("tests", "1")
        editor = Editor(client, folder)

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            editor.published.put_nowait(params)

        @client.feature(types.WINDOW_SHOW_DOCUMENT)
        def show(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
            editor.shown.append(params.uri)
            return types.ShowDocumentResult(success=True)

        environment = {**os.environ, "PYTHONPATH": ROOT}
        await client.start_io(
            sys.executable, "-m", "autograph", "lsp", "--stdio", env=environment
        )
        window = types.WindowClientCapabilities(
            show_document=types.ShowDocumentClientCapabilities(support=True)
        )
        await client.initialize_async(
            types.InitializeParams(types.ClientCapabilities(window=window))
        )
        client.initialized(types.InitializedParams())
        try:
            return await use(editor)
        finally:
            await client.shutdown_async(None)
            client.exit(None)
            await client.stop()

    return asyncio.run(session())


def test_findings_follow_the_text(tmp_path: Path) -> None:
    async def use(editor: Editor) -> Any:
        first = await editor.open(PROGRAM)
        fixed = await editor.change(PROGRAM.replace("yield number", "return number"))
        broken = await editor.change("def f(:\n")
        return first, fixed, broken

    first, fixed, broken = edited(tmp_path, use)

    (stays,) = first
    assert (stays.code, stays.source) == ("AG106", "autograph")
    assert stays.severity is types.DiagnosticSeverity.Information
    # The client counts in UTF-16, where the letter takes two.
    start, end = types.Position(10, 19), types.Position(10, 32)
    assert stays.range == types.Range(start, end)
    assert "make a list" in stays.message
    assert fixed == []
    assert [(one.code, one.severity) for one in broken] == [
        ("AG100", types.DiagnosticSeverity.Error)
    ]


def test_the_configuration_of_the_project_is_heard(tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"

    async def use(editor: Editor) -> Any:
        project.write_text('[tool.autograph]\nignore = ["AG106"]\n')
        ignored = await editor.open(PROGRAM)
        project.write_text("[tool.autograph]\nignored = []\n")
        return ignored, await editor.change(PROGRAM)

    ignored, wrong = edited(tmp_path, use)

    assert ignored == []
    assert [one.code for one in wrong] == ["AG405", "AG106"]
    assert wrong[0].range.start == types.Position(0, 0)


def test_what_becomes_of_a_statement(tmp_path: Path) -> None:
    async def use(editor: Editor) -> Any:
        await editor.open(PROGRAM)
        found = []
        for line in (3, 2):
            position = types.Position(line, 12)
            params = types.HoverParams(editor.document, position)
            found.append(await editor.client.text_document_hover_async(params))
        return found

    loop, plain = edited(tmp_path, use)

    assert (
        "staged: for_loop\n  state: result, assigned in line 6" in loop.contents.value
    )
    assert plain is None


def test_a_function_is_shown_converted(tmp_path: Path) -> None:
    async def use(editor: Editor) -> Any:
        await editor.open(PROGRAM)
        params = types.CodeLensParams(editor.document)
        lenses = await editor.client.text_document_code_lens_async(params)
        command = lenses[0].command
        text = await editor.client.workspace_execute_command_async(
            types.ExecuteCommandParams(command.command, arguments=command.arguments)
        )
        return lenses, text, editor.shown

    lenses, text, (shown,) = edited(tmp_path, use)

    assert [lens.range.start.line for lens in lenses] == [1, 9]
    assert [lens.command.arguments[1] for lens in lenses] == ["Till.total", "α_evens"]
    assert text.startswith("def total(self, prices):\n")
    assert "ag.for_loop(" in text
    path = Path(shown.removeprefix("file://"))
    assert path.read_text() == text
    path.unlink()


def test_a_missing_library_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "autograph.commandline.lsp.find_spec",
        lambda name: None if name == "pygls" else find(name),
    )
    assert cli.main(["lsp"]) == 2
    assert "pip install 'autograph-compiler[lsp]'" in capsys.readouterr().err
