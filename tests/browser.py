"""Our pages as a reader finds them, and as a browser without a screen shows them, with what it logs."""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager
from html.parser import HTMLParser

import pytest

MODELS = "const models = [...new Set(Bokeh.documents[0].roots().flatMap((r) => [...r.references()]))];"
"""Begins a script that looks for Bokeh's `models` by name."""


class Words(HTMLParser):
    """The words of a page as a reader sees them, and the addresses in its tags."""

    def __init__(self, file):
        super().__init__()
        self.words, self.addresses, self.tags, self._inside = [], [], [], ""
        self.feed(file.read_text("utf-8"))
        self.text = " ".join(word for word in self.words if word)

    def handle_starttag(self, tag, attributes):
        self._inside = tag
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href", "srcset", "data")]

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside not in ("script", "style"):
            self.words.append(data.strip())


@contextmanager
def chromium(folder):
    """Chromium, with its profile in a folder; skips where it or selenium is absent."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium")
    driver = shutil.which("chromedriver")
    program = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
    if not (driver and program):
        pytest.skip("no Chromium with chromedriver here")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    for option in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
        "--window-size=1400,1000", "--mute-audio", f"--user-data-dir={folder}",
    ):  # fmt: skip
        options.add_argument(option)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield browser
    finally:
        browser.quit()


def open_page(browser, file):
    """Open a page of ours with empty logs, and wait until it says that it is ready."""
    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get(file.as_uri())
    ready = "return document.body && document.body.dataset.ready === 'true'"
    wait(browser, lambda: browser.execute_script(ready))


def wait(browser, until):
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 60).until(lambda _: until())


def columns(browser, name):
    """The columns of the data of Bokeh's model of that name."""
    return browser.execute_script(
        f"{MODELS} const data = models.find((m) => m.name === arguments[0]).data;"
        "return Object.fromEntries(Object.entries(data).map(([k, v]) => [k, [...v]]));",
        name,
    )


def check_quiet(browser):
    """Nothing was complained about, and nothing asked for that is not in the page."""
    bad = [entry for entry in browser.get_log("browser") if entry["level"] not in ("INFO", "DEBUG")]
    assert not bad
    asked = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = {m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"}
    assert any(url.startswith("file:") for url in urls)
    assert all(url.startswith(("file:", "data:", "blob:")) for url in urls)
