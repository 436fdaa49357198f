"""The report of a run: what it says is what happened, and a browser shows it without a word of complaint."""

import base64
import json
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from browser import MODELS, Words, check_quiet, chromium, columns, open_page, wait
from click.testing import CliRunner

import ecs_audio as ea
from ecs_audio.cli import cli
from ecs_audio.perform import Census, engine_for, perform
from ecs_audio.presets import preset
from ecs_audio.telemetry import SYSTEMS
from scenarios import raid

pytest.importorskip("bokeh", reason="a report needs bokeh")
from ecs_audio.report import Diary
from ecs_audio.report.diary import ECHO, Log
from ecs_audio.report.rooms import spells
from ecs_audio.report.sound import COLUMNS, LOWEST, envelope, levels
from ecs_audio.report.tables import system_rows
from ecs_audio.report.ticks import POINTS, ticks_of

CORNER = '''"""A source before a wall and one behind it; the listener walks east, and the wall goes."""

import ecs_audio as ea


def scenario(*, note: str = "</script><b>bold</b>", seconds: float = 1.0) -> ea.Scenario:
    world = ea.World.empty(size=(64, 32, 64))
    world.fill((0, 0, 0), (64, 1, 64), "stone")
    world.fill((10, 0, 0), (11, 20, 64), "stone")
    clips = ea.Clips()
    clips.synthesize("rotor")
    return ea.Scenario(
        world,
        clips,
        seconds,
        listener=lambda time: ea.Pose((30 + 4 * time, 2, 32), (1, 0, 0)),
        spawns=[
            ea.Spawn("rotor", (44, 3, 32), name="</script>near", options={"looping": True}),
            ea.Spawn("rotor", (4, 3, 32), options={"looping": True}),
            ea.Spawn("rotor", options={"looping": True, "volume": 0.1}),
        ],
        events=[ea.Event(0.5, lambda stage: open_wall(stage.engine.world), "a hole")],
        seed=5,
    )


def open_wall(world: ea.World) -> None:
    world.fill((10, 1, 0), (11, 20, 64), "air")


def check(heard: ea.Recording) -> None:
    assert "loud" in heard.parameters["note"], "it is <b>not</b> loud"
'''


def run(*arguments, status=0):
    result = CliRunner().invoke(cli, ["run", *(str(a) for a in arguments)])
    assert result.exit_code == status, result.output
    return result


@pytest.fixture(scope="module")
def corner(tmp_path_factory):
    """The page of a small scenario whose check fails, and its summary."""
    folder = tmp_path_factory.mktemp("corner")
    script, file, summary = folder / "corner.py", folder / "corner.html", folder / "corner.json"
    script.write_text(CORNER, encoding="utf-8")
    run(script, "-o", folder / "corner.wav", "--report", file, "--check", status=1)
    return file, json.loads(summary.read_text())


@pytest.fixture(scope="module")
def of_raid(tmp_path_factory):
    """The page of two seconds of the raid, and its summary."""
    file = tmp_path_factory.mktemp("raid") / "raid.html"
    found = run("raid", "--seconds", 2, "--no-output", "--report", file, "--json")
    return file, json.loads(found.stdout)


def scene_of(file):
    found = re.search(r'id="scene">(.*?)</script>', file.read_text("utf-8"), re.DOTALL)
    return json.loads(found[1])


def floats(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def diary_of(scenario):
    diary = Diary(scenario)
    with engine_for(scenario) as engine:
        blocks = [b.copy() for b in perform(scenario, engine, watch=diary)]
    return diary, np.concatenate(blocks)


class TestThePage:
    def test_it_says_what_ran_and_how_to_get_it_again(self, of_raid):
        file, found = of_raid
        text = Words(file).text
        for said in (
            "raid rendered, not checked",
            f"seed {found['seed']} parameters sources = 100, seconds = 2.0, seed = 0",
            found["sha256"],
            f"ecs_audio {ea.__version__}",
            f"python {found['versions']['python']}",
            f"{found['peak_db']:.1f} dBFS".replace("-", "−"),
            f"peak {found['max_rays']:,} of 2,048",
        ):
            assert said in text
        assert re.search(r"loudness −[0-9.]+ LUFS", text)

    def test_a_failed_check_is_told_in_its_own_words(self, corner):
        file, found = corner
        assert found["check"] == {"passed": False, "message": "it is <b>not</b> loud"}
        assert "corner failed it is <b>not</b> loud" in Words(file).text

    def test_a_passed_check_is_told(self, tmp_path):
        (tmp_path / "corner.py").write_text(CORNER, encoding="utf-8")
        file = tmp_path / "of" / "it.html"
        run(tmp_path / "corner.py", "--set", "note=loud", "--check", "--no-output", "--report", file)
        assert "corner passed" in Words(file).text

    def test_no_text_becomes_a_tag_or_ends_a_script(self, corner, of_raid):
        page = Words(corner[0])
        assert "note = </script><b>bold</b>" in page.text
        counts = [page.tags.count(tag) for tag in ("b", "i", "script")]
        assert counts == [
            7,
            1,
            Words(of_raid[0]).tags.count("script"),
        ]  # of the tiles, of the ground's colours
        assert "</script>near" in scene_of(corner[0])["names"]

    def test_it_loads_nothing(self, of_raid):
        page = Words(of_raid[0])
        assert page.addresses
        assert all(address.startswith("data:") for address in page.addresses)
        assert "default-src 'none'" in of_raid[0].read_text("utf-8")

    def test_it_is_small(self, of_raid):
        # A second of the raid takes 80 kB, and Bokeh 1.4 MB: 20 s stay below 6 MB.
        assert of_raid[0].stat().st_size < 1_500_000 + 2 * 200_000

    def test_every_run_has_the_same_scene_whatever_its_blocks(self, corner, tmp_path):
        file, _ = corner
        again = tmp_path / "again.html"
        run(file.with_suffix(".py"), "--no-output", "--report", again, "--block", 700)
        assert scene_of(again) == scene_of(file)

    @pytest.mark.parametrize("arguments", [("--acoustics", "off"), ("--seconds", 0.001)])
    def test_any_run_has_one(self, arguments, tmp_path):
        run("wall", "--no-output", "--report", tmp_path / "it.html", *arguments)
        assert "wall rendered, not checked" in Words(tmp_path / "it.html").text

    def test_silence_has_one(self, tmp_path):
        script = tmp_path / "silence.py"
        script.write_text(
            "import ecs_audio as ea\n"
            "def scenario() -> ea.Scenario:\n"
            "    return ea.Scenario(ea.World.empty(size=(16, 16, 16)), ea.Clips(), 0.5)\n",
            encoding="utf-8",
        )
        run(script, "--no-output", "--report", tmp_path / "it.html")
        assert "peak silence" in Words(tmp_path / "it.html").text

    def test_without_bokeh_one_sentence_says_what_to_install_and_nothing_is_rendered(
        self, tmp_path, monkeypatch
    ):
        monkeypatch.setitem(sys.modules, "bokeh", None)
        wanted = tmp_path / "it.wav"
        result = run("wall", "-o", wanted, "--report", tmp_path / "it.html", status=1)
        assert result.stderr == "Error: a report needs bokeh: pip install 'ecs-audio[report]'\n"
        assert not list(tmp_path.iterdir())

    def test_bokeh_is_imported_only_for_a_report(self):
        import subprocess

        program = (
            "import sys, ecs_audio.report, ecs_audio.cli.run; "
            "assert not {'bokeh', 'PIL', 'soundfile'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", program], check=True)


class TestTheNumbers:
    def test_times_are_those_of_the_ticks(self):
        rng = np.random.Generator(np.random.PCG64(1))
        rows = [
            {f"us_{name}": t for name, t in zip(SYSTEMS, rng.uniform(0, 900, len(SYSTEMS)), strict=True)}
            for _ in range(200)
        ]
        found = {row[0]: row[1:] for row in system_rows(rows, np.array([100.0, 300.0]), 60.0)}
        trace = np.array([row["us_trace"] for row in rows])
        assert found["trace"][:3] == [
            f"{v / 1000:.3f}" for v in (np.percentile(trace, 50), np.percentile(trace, 99), trace.max())
        ]
        whole = np.array([sum(row.values()) for row in rows])
        assert found["a tick"][2] == f"{whole.max() / 1000:.3f}"
        assert found["a tick"][3] == f"{whole.mean() * 60e-6:.1%} of real time"
        assert found["mix, a block"] == ["0.200", "0.298", "0.300", "2 blocks"]

    def test_no_peak_of_a_long_run_is_lost(self):
        rows = [{**ea.Telemetry().as_dict(), "time": k / 60, "rays": k % 7} for k in range(20_000)]
        rows[12_345] |= {"rays": 1999, "oldest_age": math.inf, "limiter_gain": 0.5}
        data = ticks_of(rows).data
        assert len(data["time"]) <= POINTS
        assert data["rays"].max() == 1999
        assert data["reduction"].max() == pytest.approx(6.0206, abs=1e-3)
        assert np.isfinite(data["oldest_age"]).any()
        assert data["time"][0] == 0.0

    def test_reference_places_are_the_presets(self, of_raid):
        text = Words(of_raid[0]).text
        for name in ("street", "canyon", "room", "hall"):
            rt60 = np.array(preset(name).rt60)
            scale = int(np.argmax(preset(name).room_gain))
            assert f"{name} {' '.join(f'{t:.2f}' for t in rt60[scale])}" in text

    def test_stays_in_places_follow_one_another(self):
        rows = [
            {"time": k / 10, "room": room} for k, room in enumerate(("street", "street", "room", "street"))
        ]
        assert spells(rows, 0.4) == [("street", 0.0, 0.2), ("room", 0.2, 0.3), ("street", 0.3, 0.4)]


class TestTheSound:
    @pytest.mark.parametrize("hertz", [100.0, 1000.0, 7000.0])
    @pytest.mark.parametrize("seconds", [1.0, 30.0])
    def test_a_sine_of_full_scale_has_minus_3_dbfs_at_its_own_height(self, hertz, seconds):
        t = np.arange(round(48_000 * seconds)) / 48_000
        found = levels(np.sin(2 * np.pi * hertz * t)[:, None].repeat(2, 1).astype(np.float32), 48_000)
        middle = found[:, found.shape[1] // 2]
        row = int(12 * math.log2(hertz / LOWEST))
        near = 10 * np.log10(np.sum(10 ** (middle[max(row - 5, 0) : row + 6] / 10)))
        assert near == pytest.approx(-3.01, abs=0.1)
        assert abs(int(middle.argmax()) - row) <= 1
        assert found.shape[1] <= COLUMNS

    def test_a_click_stands_at_its_time(self):
        samples = np.zeros((48_000, 2), np.float32)
        samples[30_000] = 0.5
        found = levels(samples, 48_000)
        loudest = int(np.where(np.isfinite(found), found, -999.0).sum(axis=0).argmax())
        assert (loudest + 0.5) / found.shape[1] == pytest.approx(30_000 / 48_000, abs=0.02)
        starts, low, high = envelope(samples)
        piece = int(np.searchsorted(starts, 30_000, side="right")) - 1
        assert high[piece].tolist() == [0.5, 0.5]
        assert np.count_nonzero(high) == 2
        assert not low.any()

    def test_the_page_plays_it(self, of_raid, tmp_path):
        import soundfile

        found = re.search(r'<audio[^>]* src="data:audio/mpeg;base64,([^"]+)"', of_raid[0].read_text("utf-8"))
        (tmp_path / "it.mp3").write_bytes(base64.b64decode(found[1]))
        samples, rate = soundfile.read(tmp_path / "it.mp3")
        assert rate == 48_000
        assert len(samples) / rate == pytest.approx(2.0, abs=0.1)
        assert 20 * math.log10(np.abs(samples).max()) == pytest.approx(of_raid[1]["peak_db"], abs=1.5)


class TestTheDiary:
    def test_it_hears_nothing_different_and_counts_the_same(self):
        census = Census()
        with engine_for(scenario := raid.scenario(seconds=0.5)) as engine:
            plain = np.concatenate([b.copy() for b in perform(scenario, engine, watch=census)])
        diary, samples = diary_of(raid.scenario(seconds=0.5))
        assert samples.tobytes() == plain.tobytes()
        assert len(diary.rows) == len(census.rows) == 30
        assert [row["rays"] for row in diary.rows] == [row["rays"] for row in census.rows]

    def test_it_looks_ten_times_a_second(self):
        diary, _ = diary_of(raid.scenario(seconds=1.0))
        assert np.allclose(diary.looks, np.arange(10) / 10, atol=1e-9)
        assert len(diary.ears.records) == 60
        assert diary.sources.first[-1] == len(diary.sources.records) > 10 * 80
        assert set(diary.sources.records["serial"].tolist()) <= diary.names.keys()

    def test_a_source_stands_where_the_engine_says_and_flat_ones_nowhere(self, corner):
        scene = scene_of(corner[0])
        first = floats(scene["firstSource"]).astype(int)
        place, level = floats(scene["position"]).reshape(-1, 3), floats(scene["level"])
        named = [scene["names"][int(k)] for k in floats(scene["name"])]
        assert np.diff(first).tolist() == [2] * 10
        last = slice(first[-2], first[-1])
        assert place[last].tolist() == [[44, 3, 32], [4, 3, 32]]
        assert named[last] == ["</script>near", "rotor"]
        assert level[last].tolist() == [0.0, 0.0]
        behind = level[1::2]  # one block of stone until 0.5 s
        assert behind[1:5].tolist() == pytest.approx([-26.05] * 4, abs=0.3)
        ear = floats(scene["listener"]).reshape(-1, 3)
        assert ear[:, 0] == pytest.approx(30 + 0.4 * np.arange(10), abs=1e-4)
        assert scene["events"] == [[0.5, "a hole"]]

    def test_an_echo_stands_as_far_away_as_its_way_is_long(self, corner):
        scene = scene_of(corner[0])
        first = floats(scene["firstEcho"]).astype(int)
        place, delay = floats(scene["echoPosition"]).reshape(-1, 3), floats(scene["echoDelay"])
        ear = floats(scene["listener"]).reshape(-1, 3)
        assert len(delay) > 5
        for look in range(10):
            these = slice(first[look], first[look + 1])
            away = np.linalg.norm(place[these] - ear[look], axis=1)
            assert away == pytest.approx(343.0 * delay[these], rel=1e-4)

    def test_a_log_grows(self):
        log = Log(ECHO, 1)
        for k in range(5):
            log.take(k)["gain"] = k
        assert log.first == [0, 0, 1, 3, 6, 10]
        assert log.records["gain"].tolist() == [1, 2, 2, 3, 3, 3, 4, 4, 4, 4]

    def test_a_long_run_leaves_looks_out_and_stays_small(self, monkeypatch):
        from ecs_audio.report import map

        diary, _ = diary_of(raid.scenario(seconds=1.0))
        monkeypatch.setattr(map, "RECORDS", len(diary.sources.records) // 3 + 1)
        scene = map.scene(diary)
        assert floats(scene["times"]) == pytest.approx([0.0, 0.3, 0.6, 0.9])
        assert len(floats(scene["level"])) == floats(scene["firstSource"])[-1]
        assert len(scene["rooms"]) == 4


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("browser")) as found:
        yield found


def move_to(browser, time):
    browser.execute_script(
        "const slider = document.getElementById('time'); slider.value = arguments[0];"
        "slider.dispatchEvent(new Event('input'));",
        time,
    )


def cursors(browser):
    return browser.execute_script(
        f"{MODELS} return models.filter((m) => m.name === 'cursor').map((m) => m.location);"
    )


def words(browser, name):
    return browser.execute_script("return document.getElementById(arguments[0]).textContent", name)


class TestInABrowser:
    @pytest.fixture
    def opened(self, browser):
        def open_file(file):
            open_page(browser, Path(file))
            return browser

        return open_file

    @pytest.mark.parametrize("page", ["of_raid", "corner"])
    def test_it_opens_without_an_error_or_a_request(self, opened, page, request):
        browser = opened(request.getfixturevalue(page)[0])
        move_to(browser, 0.7)
        check_quiet(browser)

    def test_the_slider_moves_every_line_and_the_map(self, opened, corner):
        browser = opened(corner[0])
        move_to(browser, 0.2)
        assert len(cursors(browser)) == 14
        assert cursors(browser) == [0.2] * 14
        assert words(browser, "now") == "0.2 s"
        before = columns(browser, "sources")
        assert before["of"] == ["</script>near", "rotor"]
        assert before["level"] == pytest.approx([0.0, -26.05], abs=0.3)
        assert columns(browser, "listener")["x"] == pytest.approx([30.8], abs=1e-3)
        assert columns(browser, "listener")["angle"] == pytest.approx([-math.pi / 2])  # east is to the right
        assert columns(browser, "clear")["x1"] == [44]
        assert columns(browser, "blocked")["x1"] == [4]
        assert words(browser, "paths") == "1 clear, 1 occluded"
        assert words(browser, "event") == "nothing yet"
        move_to(browser, 0.9)
        assert set(cursors(browser)) == {0.9}
        assert columns(browser, "listener")["x"] == pytest.approx([33.6], abs=1e-3)
        assert columns(browser, "blocked")["x1"] == []
        assert sorted(columns(browser, "clear")["x1"]) == [4, 44]
        assert words(browser, "event") == "a hole, at 0.5 s"
        assert words(browser, "nearest").startswith("</script>near10.")

    def test_a_click_into_a_chart_goes_there(self, opened, corner):
        from selenium.webdriver.common.action_chains import ActionChains

        browser = opened(corner[0])
        x, y = browser.execute_script(
            f"{MODELS} const chart = models.find((m) => m.title?.text?.startsWith('Waveform'));"
            "const view = Bokeh.index.get_by_id(chart.id); view.el.scrollIntoView({block: 'center'});"
            "const box = view.el.getBoundingClientRect();"
            "return [box.x + view.frame.bbox.left + 0.25 * chart.inner_width, box.y + box.height / 2];"
        )
        actions = ActionChains(browser)
        actions.w3c_actions.pointer_action.move_to_location(round(x), round(y)).click()
        actions.perform()
        wait(browser, lambda: words(browser, "now") in ("0.2 s", "0.3 s"))

    def test_paths_and_names_can_be_chosen(self, opened, of_raid):
        browser = opened(of_raid[0])
        move_to(browser, 1.5)

        def choose(what, value):
            browser.execute_script(
                "const list = document.getElementById(arguments[0]); list.value = arguments[1];"
                "list.dispatchEvent(new Event('change'));",
                what,
                value,
            )

        def count():
            return len(columns(browser, "clear")["x0"]) + len(columns(browser, "blocked")["x0"])

        full = columns(browser, "sources")["tier"].count("FULL")
        assert 0 < count() <= full
        choose("lines", "all")
        assert count() > 80
        choose("lines", "none")
        assert count() == 0
        some = len(columns(browser, "names")["of"])
        choose("names", "all")
        assert len(columns(browser, "names")["of"]) > some
        choose("names", "none")
        assert columns(browser, "names")["of"] == []

    def test_it_fits_the_window_and_the_map_is_not_distorted(self, opened, of_raid):
        browser = opened(of_raid[0])

        def metres():
            return browser.execute_script(
                f"{MODELS} const m = models.find((m) => m.name === 'map');"
                "return [(m.x_range.end - m.x_range.start) / m.inner_width,"
                "(m.y_range.start - m.y_range.end) / m.inner_height,"
                "document.documentElement.scrollWidth - document.documentElement.clientWidth, m.inner_width];"
            )

        for width in (1000, 1280, 1400):
            browser.set_window_size(width, 900)
            wait(browser, lambda w=width: metres()[2] <= 0 and 0.45 * w < metres()[3] < w)
            wait(browser, lambda: metres()[0] == pytest.approx(metres()[1], rel=0.01))

    def test_the_time_follows_the_sound(self, opened, of_raid):
        browser = opened(of_raid[0])
        move_to(browser, 0.0)
        browser.execute_script("document.getElementById('audio').currentTime = 1.5")
        wait(browser, lambda: words(browser, "now") == "1.5 s")
        assert set(cursors(browser)) == {1.5}
