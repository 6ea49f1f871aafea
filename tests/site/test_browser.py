"""The built site in Chromium: ``make browser``, after ``make docs``.

Neither Playwright nor the settings of the packages' tests are needed by the other.
"""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
expect = playwright.expect
BUILT = Path(__file__).parents[2] / "build" / "site"
CHROMIUM = shutil.which("chromium")
if CHROMIUM is None or not (BUILT / "playground" / "index.html").exists():
    pytest.skip("needs Chromium and the built site", allow_module_level=True)

HAS_NUMPY = any((BUILT / "playground" / "pyodide").glob("numpy-*.whl"))
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
)
#: For the compiler to be there, on a machine that does other things as well.
LOADED = 60_000


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site, and says nothing of it."""

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            pass  # a page that was left

    def log_message(self, *arguments: Any) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]


@pytest.fixture
def serve() -> Iterator[Any]:
    servers = []

    def start() -> Any:
        handler = functools.partial(Handler, directory=BUILT)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.asked = []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.shutdown()


@pytest.fixture
def address(serve: Any) -> str:
    return f"http://127.0.0.1:{serve().server_port}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        with driver.chromium.launch(
            executable_path=CHROMIUM, args=FLAGS.split()
        ) as chromium:
            yield chromium


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """A page that must not complain, nor ask another host."""
    context = browser.new_context(base_url=address, color_scheme="light")
    page = context.new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))

    def on_console(message: Any) -> None:
        if message.type in ("error", "warning"):
            page.problems.append(message.text)

    def on_request(request: Any) -> None:
        if not request.url.startswith((f"{address}/", f"blob:{address}/", "data:")):
            page.problems.append(request.url)

    page.on("console", on_console)
    page.on("request", on_request)
    yield page
    assert page.problems == []
    context.close()


def open_playground(page: Any, name: str = "") -> None:
    page.goto(f"/playground/index.html{name}")
    expect(page.locator("#status")).to_have_text("Ready", timeout=LOADED)


def write(page: Any, text: str) -> None:
    page.locator("#source .cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def test_the_first_page_leads_to_the_playground(page: Any) -> None:
    page.goto("/index.html")
    page.get_by_role("link", name="Playground").first.click()

    # The first example is there before the compiler.
    expect(page.locator("#code .cm-content")).to_contain_text("ag.while_loop")
    expect(page.locator("#result")).to_contain_text("numpy=111")
    expect(page.locator("#drawing")).to_be_visible()
    expect(page.locator("#status")).to_have_text("Ready", timeout=LOADED)
    page.get_by_role("link", name="Documentation").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("autograph")


@pytest.mark.parametrize(
    "name", ["errors/AG103", "api/runtime.math", "tensorflow", "support", "comparison"]
)
def test_a_page_asks_no_other_host(page: Any, name: str) -> None:
    page.goto(f"/{name}.html")

    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_the_search_finds(page: Any) -> None:
    page.goto("/index.html")
    page.get_by_role("textbox", name="Search").fill("install_import_hook")

    expect(page.locator(".md-search-result__item").first).to_be_visible()


def test_code_is_converted_while_it_is_typed(page: Any) -> None:
    open_playground(page)
    write(page, "def absolute(x):\n    return -x if x < 0 else x")

    expect(page.locator("#code .cm-content")).to_contain_text("ag.cond(x < 0")
    page.get_by_label("Call", exact=True).fill("absolute(-5)")
    expect(page.locator("#result")).to_contain_text("5")
    page.locator("#source .cm-content").press("Control+End")
    page.keyboard.type(" + 1")
    expect(page.locator("#code .cm-content")).to_contain_text("lambda: x + 1")


def test_an_error_is_marked_at_its_line(page: Any) -> None:
    open_playground(page)
    write(page, "x = 1\ndef f(:\n    pass\n")

    expect(
        page.locator(".cm-line", has=page.locator(".cm-lintRange-error"))
    ).to_have_text("def f(:")
    page.get_by_role("button", name="Line 2: AG100").click()
    expect(page.locator("#source .cm-content")).to_be_focused()
    write(page, "def f(x):\n    return x\n")
    expect(page.locator("#marks li")).to_have_count(0)


def test_what_fails_in_a_call_is_marked(page: Any) -> None:
    open_playground(page, "#assert")

    expect(page.locator("#result")).to_contain_text("AssertionError: -1.0 is negative")
    expect(page.get_by_role("button", name="Line 4: AssertionError")).to_be_visible()


def test_a_program_is_shared_by_its_address(page: Any) -> None:
    open_playground(page)
    text = 'def shared(x):\n    return "ä€😀" if x else x\n'
    write(page, text)
    page.get_by_label("Call", exact=True).fill("shared(0)")
    expect(page.locator("#code .cm-content")).to_contain_text("def shared")
    page.wait_for_timeout(300)  # the address follows what is typed after a moment
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#status")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.url

    page.goto("about:blank#" + page.url)  # another document
    page.goto(page.url.removeprefix("about:blank#"))
    expect(page.locator("#source .cm-content")).to_contain_text('return "ä€😀" if x')
    expect(page.get_by_label("Call", exact=True)).to_have_value("shared(0)")
    page.goto("/playground/index.html#=damaged")
    expect(page.locator("#source .cm-content")).to_contain_text("def collatz")


def test_examples_can_be_chosen(page: Any) -> None:
    open_playground(page)
    page.get_by_label("Example", exact=True).select_option("gradient")

    expect(page.locator("#source .cm-content")).to_contain_text("GradientTape")
    expect(page.locator("#result")).to_contain_text("numpy=")
    expect(page.get_by_role("img", name="slope(0.2, 3.0)")).to_be_visible()
    expect(page).to_have_url(re.compile("#gradient$"))


def test_light_and_dark(page: Any) -> None:
    def background() -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    open_playground(page)
    light = background()
    page.emulate_media(color_scheme="dark")
    expect(page.get_by_role("button", name="Dark", pressed=True)).to_be_visible()
    dark = background()
    page.get_by_role("button", name="Dark").click()
    chosen = background()
    page.reload()

    assert dark != light
    assert (chosen, background()) == (light, light)


def test_all_is_reached_by_keys(page: Any) -> None:
    open_playground(page, "#assert")
    reached = []
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))

    wanted = ["example", "share", "theme", "source", "code", "call", "result", "graph"]
    assert [one for one in reached if one in wanted][: len(wanted)] == wanted


def test_texts_of_programs_are_no_markup(page: Any) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    page.on("dialog", lambda dialog: page.problems.append(dialog.message))
    open_playground(page)
    write(page, f'def f(x, note="{hostile}"):\n    raise ValueError(note)\n')
    page.get_by_label("Call", exact=True).fill(f'f("{hostile}")')

    expect(page.locator("#result")).to_contain_text(f"ValueError: {hostile}")
    button = page.get_by_role("button", name=f"Line 2: ValueError: {hostile}")
    expect(button).to_be_visible()
    assert page.locator("img").count() == 1


def test_a_program_reaches_no_other_host(page: Any, serve: Any) -> None:
    other = serve()
    open_playground(page)
    asked = f"http://127.0.0.1:{other.server_port}/"
    write(
        page,
        "import js\n\ndef f(x):\n    request = js.XMLHttpRequest.new()\n"
        f'    request.open("GET", "{asked}", False)\n    request.send()\n',
    )
    page.get_by_label("Call", exact=True).fill("f(1)")

    expect(page.locator("#result")).to_contain_text("NetworkError")
    assert other.asked == []
    page.problems[:] = [one for one in page.problems if asked not in one]


def test_an_endless_program_is_stopped(page: Any) -> None:
    page.clock.install()
    open_playground(page)
    write(page, "def f(x):\n    return x\n\nwhile True:\n    pass\n")
    page.clock.run_for(1_000)
    expect(page.locator("#code .cm-content")).to_contain_text("while True")
    page.clock.run_for(20_000)

    expect(page.locator("#result")).to_contain_text("Stopped")
    write(page, "def g(x):\n    return x\n")
    page.clock.run_for(1_000)
    expect(page.locator("#code .cm-content")).to_contain_text("def g", timeout=LOADED)


def test_an_edited_program_is_drawn(page: Any) -> None:
    if not HAS_NUMPY:
        pytest.skip("NOT TESTED, the built site has no NumPy for WebAssembly")
    open_playground(page)
    write(page, "def twice(x):\n    return x + x\n")
    page.get_by_label("Call", exact=True).fill("twice(4)")

    expect(page.locator("#result")).to_contain_text("numpy=8", timeout=LOADED)
    expect(page.get_by_role("img", name="The graph of twice(4)")).to_be_visible()


def test_how_long_it_takes(page: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Of what the browser has not in its cache, and of what it has."""
    names = ["first-contentful-paint", "ready", "converted"]
    script = (
        "(names) => names.map((n) => performance.getEntriesByName(n)[0]?.startTime)"
    )
    for state in ("cold", "warm"):
        open_playground(page)
        expect(page.locator("#code .cm-content")).to_contain_text("ag.while_loop")
        page.wait_for_timeout(500)
        paint, ready, converted = page.evaluate(script, names)
        with capsys.disabled():
            print(
                f"\n== {state}: painted {paint:.0f} ms, ready {ready:.0f} ms, "
                f"converted {converted:.0f} ms"
            )

        assert paint < 3_000
        assert converted < 30_000
        page.goto("about:blank")
