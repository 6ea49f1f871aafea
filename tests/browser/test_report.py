"""The page of ``autograph report`` in a browser: links, keys, zoom, hostile text."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograph.commandline.report import report_page

playwright = pytest.importorskip(
    "playwright.sync_api", reason="NOT TESTED: Playwright is not installed"
)

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
if BROWSER is None:
    pytest.skip("NOT TESTED: no browser found", allow_module_level=True)

ARGUMENTS = (
    "--no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
HOSTILE = "</script><img src=x onerror=document.title='gone'>"
PROGRAM = f"""\
import runtime as tf


def f(x):  # {HOSTILE}
    for i in tf.range(3):
        x = tf.sin(x)
    tf.print({HOSTILE!r}, x)
    return x
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "sines.py").write_text(PROGRAM)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        text = report_page("sines.py::f(float32[])", profile=True)
    (folder / "report.html").write_text(text, encoding="utf-8")
    return folder / "report.html"


@pytest.fixture(params=["light", "dark"])
def page(request: pytest.FixtureRequest, browser: Any, written: Path) -> Iterator[Any]:
    """The page, which must neither load anything nor complain."""
    shown = browser.new_page(color_scheme=request.param)
    complaints: list[str] = []
    shown.on("console", lambda message: complaints.append(message.text))
    shown.on("pageerror", lambda error: complaints.append(str(error)))
    shown.on("request", lambda sent: complaints.append(sent.url))
    shown.goto(written.as_uri())
    yield shown
    shown.close()
    assert complaints == [written.as_uri()]


def row(page: Any, title: str, text: str) -> Any:
    rows = page.locator(f".lines[aria-label='{title}'] > div")
    return rows.filter(has_text=text)


def test_pointing_at_a_line_shows_what_becomes_of_it(page: Any) -> None:
    row(page, "Source", "tf.sin").hover()

    for title, text in (("Converted", "tf.sin"), ("NumPy source", "np.sin")):
        assert "near" in row(page, title, text).get_attribute("class")
    nodes = page.locator("g.near > text.title").all_text_contents()
    assert nodes == ["Sin"]
    told = page.locator("footer code").inner_text()
    assert told.startswith("sines.py:6")
    assert "x: float32[]" in told
    assert "3 runs" in told


def test_a_click_keeps_the_line_and_another_lets_it_go(page: Any) -> None:
    page.locator("g[data-link] > text.title", has_text="Sin").click()
    for title in ("Source", "Converted"):
        assert "pinned" in row(page, title, "tf.sin").get_attribute("class")

    page.keyboard.press("Escape")
    assert page.locator(".pinned").count() == 0


def test_keys_choose_lines_and_columns(page: Any) -> None:
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert "pinned" in row(page, "Source", "for i in").get_attribute("class")

    assert page.locator("section:visible").count() == 4
    page.keyboard.press("2")
    assert not page.locator(".lines[aria-label='Converted']").is_visible()


def test_the_graph_zooms_and_moves(page: Any) -> None:
    def view() -> list[float]:
        text = page.locator(".drawing > svg").get_attribute("viewBox")
        return [float(number) for number in text.split()]

    before = view()
    page.keyboard.press("+")
    assert view()[2] == pytest.approx(0.8 * before[2])
    page.keyboard.press("0")
    page.locator(".drawing").hover()
    page.mouse.wheel(0, 250)
    page.wait_for_function(
        "width => +document.querySelector('.drawing > svg').getAttribute('viewBox')"
        ".split(' ')[2] > width",
        arg=before[2],
    )
    middle = view()
    page.mouse.down()
    page.mouse.move(200, 200, steps=20)
    page.mouse.up()
    assert view()[:2] != middle[:2]


def test_texts_of_the_program_stay_text(page: Any) -> None:
    assert page.locator("img").count() == 0
    assert page.title() == "sines.py::f(float32[])"
    assert HOSTILE in row(page, "Source", "def f(x)").inner_text()
    assert page.locator("script").count() == 2


def test_colours_are_those_of_the_system(page: Any) -> None:
    is_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert colour == ("rgb(13, 17, 23)" if is_dark else "rgb(255, 255, 255)")
