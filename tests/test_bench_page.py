"""The dashboard: it says what the runs said, and a browser shows it without a word of complaint."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from browser import MODELS, Words, check_quiet, chromium, columns, open_page, wait
from click.testing import CliRunner

from ecs_audio.bench import history, record
from ecs_audio.cli import cli

pytest.importorskip("bokeh", reason="the dashboard needs bokeh")
from ecs_audio.bench.curves import law, ticks

SUITE = """
from time import perf_counter


def seconds(function):
    start = perf_counter()
    function()
    return perf_counter() - start


def figure(name, title, ours, theirs, **more):
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(9)]
    ratios = sorted(peer / own for own, peer in pairs)
    return {
        "name": name, "title": title, "group": name.partition(".")[0], "value": pairs[0][0], "unit": "s",
        "better": "lower", "peer": "</script>a loop", "peer_value": pairs[0][1], "ratio": ratios[4],
        "ratios": ratios, "values": [own for own, _ in pairs], "target": 0.01, "target_of": "ratio",
    } | more


def loop(count):
    return sum(1 for _ in range(count))


def test_sums(benchmark):
    benchmark.pedantic(loop, (1000,), rounds=300)
    no_peer = {"peer": None, "peer_value": None, "ratio": None, "ratios": []}
    no_peer |= {"target_of": "value", "target": 1.0}
    benchmark.extra_info["figures"] = [
        figure("sums.plain", "a <b>plain</b> sum", lambda: sum(range(999)), lambda: loop(999)),
        figure("sums.alone", "a sum alone", lambda: sum(range(999)), lambda: None, **no_peer),
        figure("lists.size", "a list", lambda: None, lambda: None, **no_peer | {
            "unit": "B", "value": 8056.0, "values": [], "target": None,
        }),
    ]


def test_growth(benchmark):
    benchmark.pedantic(loop, (10,), rounds=5)
    xs = [0, 10, 100, 1000]
    benchmark.extra_info["curve"] = {
        "name": "sums.growth", "title": "a loop", "group": "sums", "x": "turns", "unit": "s",
        "xs": xs, "ys": [seconds(lambda: loop(x)) for x in xs], "order": 1.4,
        "declared": 1, "limit": 1.2, "worse": True,
    }
"""


def run(folder, *arguments):
    there = os.getcwd()
    os.chdir(folder)
    try:
        return CliRunner().invoke(cli, ["bench", *arguments])
    finally:
        os.chdir(there)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a real run, and a history of four: of two processors, one of them quick."""
    folder = tmp_path_factory.mktemp("clone")
    (folder / "perf").mkdir()
    (folder / "perf/test_sums.py").write_text(SUITE, encoding="utf-8")
    (folder / "perf/targets.toml").write_text('["sums.gone"]\nratio = 2\nsays = "so it says"\n')
    result = run(folder)
    assert result.exit_code == 0, result.output
    raw = json.loads((folder / "out/bench/run.json").read_text())
    for day, factor, quick, processor in (
        (1, 1.3, False, "Older"),
        (2, 1.1, True, "Older"),
        (3, 0.8, False, ""),
    ):
        old = copy.deepcopy(raw)
        old["datetime"] = f"2020-01-0{day}T12:34:56+00:00"
        old["commit_info"]["id"] = f"{day}" * 40
        old["ecs_audio"]["quick"] = quick
        if processor:
            old["machine_info"]["cpu"]["brand_raw"] = processor
        for figure in old["benchmarks"][0]["extra_info"]["figures"]:
            figure["value"] *= factor
            figure["values"] = [factor * value for value in figure["values"]]
        history.store(old, folder / "out/bench/history")
    (folder / "out/bench/history/cut.json").write_text("{")
    result = run(folder, "--page-only")
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(scope="module")
def page(folder):
    return folder / "out/bench/index.html"


def past_of(page):
    return json.loads(re.search(r'id="past">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)[1])


class TestThePage:
    def test_it_says_what_the_newest_run_said(self, folder, page):
        found, text = record.read(folder / "out/bench/run.json"), Words(page).text
        assert f"{found.datetime[:16].replace('T', ' ')}, commit {found.commit}" in text
        assert found.processor in text
        assert "no ratio below its target" in text
        assert "a <b>plain</b> sum" in text
        assert "ratios 1 of 1" in text
        assert "runs 4 on 2 processors" in text
        assert "sums.gone so it says ≥ 2× not measured" in text
        assert "Grows faster than declared a loop (sums.growth), order 1.40 over turns" in text

    def test_damaged_files_are_named(self, page):
        assert "cut.json is damaged or no JSON" in Words(page).text

    def test_the_history_of_every_figure_is_in_it(self, folder, page):
        past, figures = past_of(page), record.read(folder / "out/bench/run.json").figures
        assert past["runs"]["date"][:3] == ["2020-01-01 12:34", "2020-01-02 12:34", "2020-01-03 12:34"]
        assert past["runs"]["commit"][:2] == ["111111111111", "222222222222"]
        assert past["runs"]["kind"] == ["full run", "quick run", "full run", "full run"]
        assert past["runs"]["processor"][:2] == ["Older", "Older"]
        assert set(past["figures"]) == set(figures)
        plain = past["figures"]["sums.plain"]
        scale = {"ns": 1e9, "µs": 1e6, "ms": 1e3}[plain["unit"]]  # by what a busy machine made of it
        assert plain["value"]["at"] == pytest.approx(
            [scale * figures["sums.plain"].value * factor for factor in (1.3, 1.1, 0.8, 1.0)], rel=1e-4
        )
        assert plain["ratio"]["at"] == pytest.approx([figures["sums.plain"].ratio] * 4, rel=1e-4)
        assert plain["ratio"]["low"][0] <= plain["ratio"]["at"][0] <= plain["ratio"]["high"][0]
        assert past["figures"]["sums.alone"]["ratio"]["at"] == [None] * 4
        assert past["figures"]["lists.size"]["value"]["at"][-1] == 8.056

    def test_it_loads_nothing_and_no_text_becomes_a_tag(self, page):
        found = Words(page)
        assert found.addresses
        assert all(address.startswith("data:") for address in found.addresses)
        assert "default-src 'none'" in page.read_text("utf-8")
        assert found.tags.count("b") == 6 + 3  # of the tiles and of the cards

    def test_without_bokeh_the_numbers_are_shown_and_it_says_what_to_install(self, folder, monkeypatch, page):
        before = page.stat().st_mtime_ns
        monkeypatch.setitem(sys.modules, "bokeh", None)
        result = run(folder, "--page-only")
        assert result.exit_code == 1
        assert result.stderr == "Error: the dashboard needs bokeh: pip install 'ecs-audio[report]'\n"
        assert page.stat().st_mtime_ns == before
        assert run(folder, "out/bench/run.json").exit_code == 0

    def test_without_runs_it_says_what_makes_one(self, tmp_path):
        result = run(tmp_path, "--page-only")
        assert result.stderr == (
            "Error: no runs in out/bench/history: `ecs-audio bench` measures and keeps one\n"
        )

    def test_bokeh_is_imported_only_for_the_page(self):
        program = (
            "import sys, ecs_audio.cli; from ecs_audio.bench import page, suite, lines, formats;"
            "assert not {'bokeh', 'pytest', 'rich'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", program], check=True)


class TestCurves:
    @pytest.mark.parametrize(("order", "base", "slope"), [(1.0, 3.0, 0.5), (2.0, 0.0, 0.1), (0.0, 2.0, 0.0)])
    def test_a_law_goes_through_what_follows_it(self, order, base, slope):
        xs = np.array([0.0, 1.0, 10.0, 100.0]) + (order == 2.0)
        ys = base + slope * xs**order
        assert law(xs, ys, order, xs) == pytest.approx(ys)

    def test_neither_part_of_a_law_is_negative(self):
        xs = np.array([1.0, 10.0, 100.0])
        assert (law(xs, 5.0 / xs, 1.0, np.array([1.0, 1000.0])) > 0).all()

    def test_an_axis_has_round_numbers(self):
        assert ticks(0.9e-6, 60e-6) == [1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5]
        assert ticks(1e-6, 1.0) == pytest.approx([10.0**k for k in range(-6, 1)])


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("browser")) as found:
        yield found


class TestInABrowser:
    @pytest.fixture
    def opened(self, browser, page):
        open_page(browser, page)
        return browser

    def points(self, browser, which):
        return columns(browser, f"{which} points")

    def choose(self, browser, name):
        browser.execute_script("document.querySelector(`[data-figure='${arguments[0]}']`).click()", name)

    def test_it_opens_without_an_error_or_a_request(self, opened):
        self.choose(opened, "sums.alone")
        check_quiet(opened)

    def test_a_click_on_a_card_shows_its_value_and_ratio(self, opened, page):
        past = past_of(page)
        shown = "return document.getElementById('shown').textContent"
        assert opened.execute_script(shown) == "a <b>plain</b> sum (sums.plain)"  # the first that has a peer
        value = self.points(opened, "value")
        assert value["at"] == past["figures"]["sums.plain"]["value"]["at"]
        assert value["processor"][:2] == ["Older", "Older"]
        assert value["fill"][1] == "#ffffff"  # a quick run
        assert self.points(opened, "ratio")["at"] == past["figures"]["sums.plain"]["ratio"]["at"]
        target = f"{MODELS} const t = models.find((m) => m.name === 'ratio target');"
        target += "return [t.visible, t.location];"
        assert opened.execute_script(target) == [True, 0.01]
        self.choose(opened, "lists.size")
        assert opened.execute_script(shown) == "a list (lists.size)"
        assert self.points(opened, "ratio")["at"] == []
        assert self.points(opened, "value")["said"][-1] == "8.056 kB"
        pressed = "return [...document.querySelectorAll('[aria-pressed=true]')].map((c) => c.dataset.figure)"
        assert opened.execute_script(pressed) == ["lists.size"]

    def test_only_neighbours_of_one_machine_and_size_are_joined(self, opened):
        joined = f"{MODELS} return models.find((m) => m.name === 'value lines').data.xs.map((xs) => [...xs]);"
        assert opened.execute_script(joined) == [[0], [1], [2, 3]]

    def test_it_fits_the_window(self, opened):
        excess = "const e = document.documentElement; return e.scrollWidth - e.clientWidth"
        size = f"{MODELS} return models.find((m) => m.name === 'value').inner_width"
        for width in (1000, 1280, 1400):
            opened.set_window_size(width, 900)
            for name in ("lists.size", "sums.plain"):
                self.choose(opened, name)
                wait(opened, lambda: opened.execute_script(excess) <= 0)
                share = (0.35, 1.0) if width > 1180 and name == "sums.plain" else (0.75, 1.0)
                wait(opened, lambda w=width, s=share: s[0] * w < opened.execute_script(size) < s[1] * w)
