"""Benchmarks: a real suite is run, kept, judged, compared and translated."""

from __future__ import annotations

import copy
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ecs_audio.bench import BenchError, compare, formats, history, noise, record, suite, targets, words
from ecs_audio.bench.record import Benchmark, Ended, Extra, Figure, Own, Run, Stats
from ecs_audio.cli import cli

CONFTEST = """
def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true")
"""

TARGETS = """
["sums.sum"]
ratio = 0.001
says = "sum beside a loop: at least a thousandth"

["sums.beyond"]
ratio = 1000.0

["sums.time"]
value = 1.0

["sorts.other"]
ratio = 2.0
"""

SUMS = """
from time import perf_counter

import pytest


def seconds(function, argument):
    start = perf_counter()
    function(argument)
    return perf_counter() - start


def loop(numbers):
    total = 0
    for number in numbers:
        total += number


def figure(name, values, peers=(), **more):
    ratios = [peer / own for own, peer in zip(values, peers)]
    middle = lambda x: sorted(x)[len(x) // 2] if x else None
    return {
        "name": name, "title": f"about {name}", "group": "sums", "value": middle(values), "unit": "s",
        "better": "lower", "peer": "a loop" if peers else None, "peer_value": middle(peers),
        "ratio": middle(ratios), "ratios": ratios, "values": list(values), "target": None, "target_of": None,
    } | more


def test_sum(benchmark, pytestconfig):
    numbers = range(3000)
    benchmark.pedantic(sum, (numbers,), rounds=300)
    rounds = 8 if pytestconfig.getoption("quick") else 16
    pairs = [(seconds(sum, numbers), seconds(loop, numbers)) for _ in range(rounds)]
    ours, peers = zip(*pairs)
    benchmark.extra_info["sources"] = 3000
    benchmark.extra_info["figures"] = [
        figure("sums.sum", ours, peers, target=0.002, target_of="ratio"),
        figure("sums.beyond", ours, peers),
        figure("sums.time", ours),
    ]


def test_growth(benchmark):
    sizes = [10, 100, 1000]
    costs = [seconds(loop, range(n)) for n in sizes]
    benchmark.pedantic(loop, (range(100),), rounds=20)
    benchmark.extra_info["curve"] = {
        "name": "sums.growth", "title": "a sum", "group": "sums", "x": "numbers", "unit": "s",
        "xs": sizes, "ys": costs, "order": 1.0, "declared": 0, "limit": 0.2, "worse": True,
    }


def test_sorts(benchmark):
    pytest.skip("no sorter to compare with: pip install --group peers")


def test_no_benchmark():
    raise AssertionError("it is not even run")
"""

BROKEN = """
import pytest


def test_good(benchmark):
    benchmark.pedantic(sum, (range(10),), rounds=5)


def test_wrong(benchmark):
    benchmark.pedantic(sum, (range(10),), rounds=5)
    print("what it printed")
    assert sum(range(10)) == 46, "sums are off"


def test_unreadable(benchmark):
    benchmark.extra_info["figures"] = [{"name": "half.a.figure"}]
    benchmark.pedantic(sum, (range(10),), rounds=5)
"""


def suite_in(folder, **files):
    perf = folder / "perf"
    perf.mkdir()
    (perf / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    for name, text in files.items():
        (perf / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return perf


def bench(*arguments, folder, status=0):
    found = os.getcwd()
    os.chdir(folder)
    try:
        result = CliRunner().invoke(cli, ["bench", *(str(a) for a in arguments)])
    finally:
        os.chdir(found)
    assert result.exit_code == status, result.output
    return result


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder in which a real suite was run, and what the command said."""
    folder = tmp_path_factory.mktemp("clone")
    suite_in(folder, test_sums__py=SUMS, targets__toml=TARGETS)
    return folder, bench(folder=folder, status=1)


@pytest.fixture(scope="module")
def run(measured):
    return record.read(measured[0] / "out/bench/run.json")


class TestARun:
    def test_every_figure_and_target_is_in_the_table(self, measured):
        lines = {line.split()[0]: line for line in measured[1].stdout.splitlines() if line}
        assert "a loop, " in lines["sums.sum"]
        assert lines["sums.sum"].endswith("≥ 0.002×  met")  # the figure's own target, not the file's
        assert lines["sums.beyond"].endswith("≥ 1,000×  missed")
        assert lines["sums.time"].split()[-3:] == ["1", "s", "met"]
        assert lines["sorts.other"].endswith(
            "not measured: no sorter to compare with: pip install --group peers"
        )
        assert lines["sums.growth"].endswith("worse than 0.2")

    def test_a_missed_ratio_is_named_in_the_last_line(self, measured):
        assert measured[1].stderr.splitlines()[-1] == "Error: below the target: sums.beyond"

    def test_it_says_which_benchmark_of_how_many_runs_and_for_how_long(self, measured):
        said = [line for line in measured[1].stderr.splitlines() if line.startswith("[")]
        assert len(said) == 4
        assert said[0].startswith("[1/4, ")
        assert "perf/test_sums.py::test_sum took 0." in said[0]

    def test_what_is_kept_is_pytest_benchmarks_json_and_small(self, measured, run):
        raw = json.loads((measured[0] / "out/bench/run.json").read_text())
        assert set(raw) >= {"machine_info", "commit_info", "benchmarks", "datetime", "version"}
        of_sum = raw["benchmarks"][0]
        assert of_sum["extra_info"]["sources"] == 3000
        assert of_sum["stats"]["rounds"] == 300
        assert len(of_sum["stats"]["data"]) == record.POINTS
        assert of_sum["stats"]["min"] <= min(of_sum["stats"]["data"])
        assert [e.why for e in run.ecs_audio.skipped] == [
            "no sorter to compare with: pip install --group peers"
        ]
        assert run.ecs_audio.quick is False

    def test_it_is_kept_by_date_commit_and_machine(self, measured, run):
        (file,) = (measured[0] / "out/bench/history").iterdir()
        assert file.name.startswith(run.datetime[:10])
        assert f"_{run.commit}_" in file.name
        assert record.read(file) == run

    def test_slack_is_the_bar_of_noisy_machines(self, measured):
        result = bench("out/bench/run.json", "--slack", 1e6, folder=measured[0])
        assert "within slack" in result.stdout

    def test_json_is_one_object(self, measured):
        found = json.loads(bench("out/bench/run.json", "--json", folder=measured[0], status=1).stdout)
        figures = {each["name"]: each for each in found["figures"]}
        assert figures["sums.sum"]["verdict"] == "met"
        assert figures["sums.sum"]["says"] == "sum beside a loop: at least a thousandth"
        assert len(figures["sums.sum"]["ratios"]) == 16
        assert figures["sorts.other"]["verdict"] == "not measured"
        assert found["missed"] == ["sums.beyond"]
        assert found["curves"][0]["worse"]

    def test_a_failed_benchmark_is_named_and_the_rest_is_shown(self, tmp_path):
        suite_in(tmp_path, test_broken__py=BROKEN, test_absent__py="import no_such_module\n")
        result = bench("--quick", folder=tmp_path, status=1)
        run = record.read(tmp_path / "out/bench/run.json")
        assert [b.name for b in run.benchmarks] == ["test_good"]
        assert [e.name.rpartition("/")[2] for e in run.ecs_audio.failed] == [
            "test_absent.py", "test_broken.py::test_wrong", "test_broken.py::test_unreadable",
        ]  # fmt: skip
        assert run.ecs_audio.quick is True
        for said in (
            "No module named 'no_such_module'",
            "what it printed",
            "sums are off",
            "missing required",
        ):
            assert said in result.stdout
        assert "test_broken.py::test_wrong" in result.stderr.splitlines()[-1]

    def test_a_crash_says_in_which_benchmark(self, tmp_path):
        perf = suite_in(tmp_path, test_crash__py="import os\ndef test_it(benchmark): os.abort()\n")
        with pytest.raises(BenchError, match=r"ended with -6 in .*test_crash.py::test_it"):
            suite.measure(perf, lambda event: None)

    def test_ctrl_c_leaves_nothing_and_ends_what_it_began(self, tmp_path):
        text = (
            "import os, pathlib, time\n"
            "def test_long(benchmark):\n"
            "    pathlib.Path('pid').write_text(str(os.getpid()))\n"
            "    time.sleep(60)\n"
        )
        suite_in(tmp_path, test_long__py=text)
        program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        program += "from ecs_audio.cli import main; main()"
        env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1]), "TMPDIR": str(tmp_path)}
        process = subprocess.Popen(
            [sys.executable, "-c", program, "bench"], cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True
        )
        file, end = tmp_path / "pid", time.monotonic() + 30
        while not (file.exists() and file.read_text()) and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]
        assert process.returncode == 130
        assert said.splitlines()[-1] == "Interrupted: what was not complete has been removed."
        assert not (tmp_path / "out").exists()
        assert not list(tmp_path.glob("ecs-audio-bench-*"))
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.read_text()), 0)

    def test_without_a_suite_it_says_where_one_is(self, tmp_path):
        result = bench(folder=tmp_path, status=1)
        assert "run this in a clone of the repository, or say where they are: --suite FOLDER" in result.stderr
        assert not list(tmp_path.iterdir())


def figure(name="a.b", values=(), ratios=(), **more):
    middle = float(np.median(values)) if len(values) else 1.0
    ratio = {"ratio": float(np.median(ratios)), "peer": "p", "peer_value": 1.0} if len(ratios) else {}
    plain = {"title": name, "group": "a", "value": middle, "unit": "s", "better": "lower"}
    return Figure(name, **(plain | ratio | more), values=list(values), ratios=list(ratios))


def run_with(*figures, processor="A", quick=False, **own):
    stats = Stats(1.0, 1.0, 1.0, 1.0, 1.0, 1)
    benchmark = Benchmark("test_a", "perf/test_a.py::test_a", stats, Extra(list(figures)))
    machine = {"cpu": {"brand_raw": processor}}
    return Run("2026-01-01T00:00:00+00:00", [benchmark], machine, {}, Own(quick=quick, **own))


class TestTargets:
    def read(self, folder, text):
        (folder / "targets.toml").write_text(text, encoding="utf-8")
        return targets.read(folder)

    def test_names_with_dots_may_be_quoted_or_bare(self, tmp_path):
        found = self.read(
            tmp_path, '["a.b.c"]\nratio = 2\n[a.b.d]\nvalue = 5e-6\nsays = "so"\n[a.b]\nratio = 3'
        )
        assert sorted(found) == [
            ("a.b", "ratio", 3.0, ""), ("a.b.c", "ratio", 2.0, ""), ("a.b.d", "value", 5e-6, "so"),
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("[a]\nratio = 'x'", "a.ratio is 'x'; it must be a number above 0"),
            ("[a]\nratio = 0", "above 0"),
            ("[a]\nsays = 'x'", "a has neither `ratio` nor `value`"),
            ("[a", "targets.toml: "),
        ],
    )
    def test_a_mistake_is_named(self, tmp_path, text, said):
        with pytest.raises(BenchError, match=r"targets\.toml") as error:
            self.read(tmp_path, text)
        assert said in str(error.value)

    @pytest.mark.parametrize(
        ("better", "value", "verdict"),
        [("lower", 0.9, "met"), ("lower", 1.1, "missed"), ("higher", 1.1, "met"), ("higher", 0.9, "missed")],
    )
    def test_a_value_is_met_on_its_better_side_and_never_decides(self, better, value, verdict):
        (row,) = targets.rows(
            run_with(figure(value=value, better=better)), [targets.Target("a.b", "value", 1.0)]
        )
        assert row.verdict == verdict
        assert not row.decides

    @pytest.mark.parametrize(
        ("slack", "verdict"), [(1, "missed"), (1.9, "missed"), (2, "within slack"), (3, "within slack")]
    )
    def test_slack_divides_the_target_of_a_ratio(self, slack, verdict):
        found = run_with(figure(ratios=[2.0]))
        (row,) = targets.rows(found, [targets.Target("a.b", "ratio", 4.0)], slack=slack)
        assert row.verdict == verdict
        assert row.decides == (verdict == "missed")

    def test_a_ratio_without_its_peer_is_not_measured(self, monkeypatch):
        monkeypatch.setattr(targets, "PEERS", ("no_such_peer",))
        (row,) = targets.rows(run_with(figure()), [targets.Target("a.b", "ratio", 4.0)])
        assert (row.verdict, row.why) == (
            "not measured",
            "no peer to compare with: pip install --group peers",
        )

    def test_earlier_runs_know_where_a_figure_comes_from(self):
        name = "perf/test_a.py::test_a"
        before, wanted = [run_with(figure("other.name"))], [targets.Target("other.name", "ratio", 4.0)]
        now = Run("", [], ecs_audio=Own(skipped=[Ended("perf/other.py::x", "no"), Ended(name, "no cyal")]))
        assert targets.rows(now, wanted, before=before)[0].why == "no cyal"
        now = Run("", [], ecs_audio=Own(failed=[Ended("perf/test_a.py", "ImportError")]))
        assert targets.rows(now, wanted, before=before)[0].why == "perf/test_a.py failed"

    @pytest.mark.parametrize(
        ("quick", "why"), [(True, "a short run leaves it out"), (False, "its benchmark did not note it")]
    )
    def test_a_benchmark_that_ran_leaves_a_figure_out_in_a_short_run(self, quick, why):
        before, wanted = [run_with(figure("a.large"))], [targets.Target("a.large", "value", 1.0)]
        now = run_with(figure("a.small"), quick=quick, skipped=[Ended("x", "no")])
        assert targets.rows(now, wanted, before=before)[1].why == why

    def test_a_short_run_leaves_a_figure_out_of_a_group_of_which_nothing_was_skipped(self):
        wanted = [targets.Target("a.large", "value", 1.0)]
        for skipped, why in (("x", "a short run leaves it out"), ("perf/test_a.py::test_large", "no data")):
            now = run_with(figure("a.small"), quick=True, skipped=[Ended(skipped, "no data")])
            assert targets.rows(now, wanted)[1].why == why

    def test_a_short_run_tells_what_it_has_instead(self):
        wanted = [targets.Target("a.large", "value", 1.0)]
        now = run_with(
            figure("a.large.short"), quick=True, skipped=[Ended("perf/test_a.py::test_large", "no")]
        )
        assert targets.rows(now, wanted)[1].why == "a short run leaves it out, and has a.large.short"


class TestHistory:
    @pytest.fixture
    def raw(self, measured):
        return json.loads((measured[0] / "out/bench/run.json").read_text())

    def test_runs_come_by_date_and_the_newest_are_kept(self, tmp_path, raw):
        for day in (3, 1, 2):
            history.store(raw | {"datetime": f"2026-01-0{day}T10:00:00.123+00:00"}, tmp_path)
        assert [run.datetime[9] for run in history.load(tmp_path).runs] == ["1", "2", "3"]
        assert [file.name[9] for file in history.keep(tmp_path, 2)] == ["1"]
        assert len(list(tmp_path.iterdir())) == 2

    def test_two_runs_of_a_second_are_two_files(self, tmp_path, raw):
        assert history.store(raw, tmp_path) != history.store(raw, tmp_path)

    def test_damaged_files_are_reported_and_skipped(self, tmp_path, raw):
        history.store(raw, tmp_path)
        wrong = copy.deepcopy(raw)
        wrong["benchmarks"][0]["extra_info"]["figures"][0]["value"] = "fast"
        for name, text in (
            ("cut", json.dumps(raw)[:500]), ("wrong", json.dumps(wrong)), ("other", "[]"),
            ("dateless", json.dumps(raw | {"datetime": "yesterday"})), ("empty", ""),
        ):  # fmt: skip
            (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
        found = history.load(tmp_path)
        assert len(found.runs) == 1
        assert len(found.damaged) == 5
        assert all(f"{name}.json" in sentence for name, sentence in zip(
            ("cut", "dateless", "empty", "other", "wrong"), found.damaged, strict=True
        ))  # fmt: skip
        assert "figures[0].value" in found.damaged[-1]

    def test_what_cannot_be_written_leaves_no_part(self, tmp_path, raw):
        with pytest.raises(TypeError):
            history.write(raw | {"datetime": object()}, tmp_path / "run.json")
        assert not list(tmp_path.iterdir())


class TestNoise:
    def test_counted_chances_are_those_of_all_orders(self):
        for m, n in ((1, 1), (2, 3), (4, 4), (3, 6)):
            found = [0] * (m * n + 1)
            for places in combinations(range(m + n), m):
                found[sum(place - k for k, place in enumerate(places))] += 1
            assert noise._counts(m, n) == found

    def test_few_rounds_say_nothing(self):
        assert noise.change([1.0, 1.1, 1.2], [2.0, 2.1, 2.2]) is None
        assert noise.change([1.0] * 5, [2.0] * 5) == pytest.approx((2.0, 2.0, 2.0))

    @pytest.mark.parametrize("rounds", [6, 9, 40])
    def test_the_interval_holds_the_truth_in_99_of_100_runs(self, rounds):
        rng = np.random.Generator(np.random.PCG64(rounds))
        held = 0
        for _ in range(600):
            old, new = np.exp(rng.normal(0.0, 0.2, (2, rounds)))
            found = noise.change(old.tolist(), (1.3 * new).tolist())
            held += found.low <= 1.3 <= found.high
        assert held / 600 >= 0.98

    def test_rounds_like_their_neighbours_count_for_less(self):
        rng = np.random.Generator(np.random.PCG64(8))
        held = 0
        for _ in range(400):
            noises = rng.normal(0.0, 0.1, (2, 30))
            for k in range(1, 30):
                noises[:, k] = 0.7 * noises[:, k - 1] + 0.71 * noises[:, k]
            found = noise.change(*np.exp(noises).tolist())
            held += found.low <= 1.0 <= found.high
        assert held / 400 >= 0.92  # as if they were independent: 0.82

    def test_a_disturbed_round_changes_little(self):
        rng = random.Random(3)
        old = [rng.uniform(0.98, 1.02) for _ in range(20)]
        new = [1.2 * rng.uniform(0.98, 1.02) for _ in range(18)] + [50.0, 80.0]
        found = noise.change(old, new)
        assert found.factor == pytest.approx(1.2, rel=0.02)
        assert found.low > 1.15


class TestComparing:
    def verdict(self, old, new):
        (row, *_) = compare.compare(old, new).rows
        return row

    def test_the_ratio_counts_where_there_is_a_peer_even_on_another_machine(self):
        rng = np.random.Generator(np.random.PCG64(1))
        values, ratios = rng.normal(1.0, 0.03, (2, 15))
        old = run_with(figure(values=values, ratios=6 * ratios))
        new = run_with(figure(values=3 * values, ratios=5 * ratios), processor="B")
        row = self.verdict(old, new)
        assert (row.of, row.verdict) == ("ratio", "worse")
        assert row.factor == pytest.approx(5 / 6, abs=0.01)
        assert row.low < row.factor < row.high < 1
        assert compare.worse(compare.compare(old, new)) == ["a.b"]
        assert self.verdict(new, old).verdict == "better"

    @pytest.mark.parametrize(("better", "verdict"), [("lower", "worse"), ("higher", "better")])
    def test_values_count_where_there_is_none_on_one_machine(self, better, verdict):
        values = np.random.Generator(np.random.PCG64(2)).permutation(np.linspace(0.95, 1.05, 11))
        old = run_with(figure(values=values, better=better))
        assert self.verdict(old, run_with(figure(values=1.3 * values, better=better))).verdict == verdict
        assert self.verdict(old, run_with(figure(values=1.05 * values, better=better))).verdict == "same"
        row = self.verdict(old, run_with(figure(values=9 * values, better=better), processor="B"))
        assert (row.verdict, row.why) == ("not judged", "times of another processor")

    def test_bytes_are_no_noise(self):
        old, new = (run_with(figure(value=float(size), unit="B")) for size in (1000, 1060))
        assert self.verdict(old, new).verdict == "worse"
        assert self.verdict(old, old).verdict == "same"

    def test_one_time_alone_is_not_judged(self):
        assert self.verdict(run_with(figure()), run_with(figure(value=3.0))).why == "too few rounds"

    def test_a_quick_run_is_not_compared_with_a_full_one(self):
        with pytest.raises(BenchError, match="the old run is a quick one"):
            compare.compare(run_with(quick=True), run_with())
        compare.compare(run_with(quick=None), run_with())

    def test_nothing_is_measured_that_could_not_be_compared(self, measured):
        before = (measured[0] / "out/bench/run.json").read_bytes()
        result = bench("--quick", "--compare", "out/bench/run.json", folder=measured[0], status=1)
        assert "the new run is a quick one and the other is not" in result.stderr
        assert (measured[0] / "out/bench/run.json").read_bytes() == before

    def test_what_only_one_run_has_is_named(self):
        found = compare.compare(
            run_with(figure("a.x"), figure("a.y")), run_with(figure("a.y"), figure("a.z"))
        )
        assert ([row.name for row in found.rows], found.only_old, found.only_new) == (
            ["a.y"],
            ["a.x"],
            ["a.z"],
        )

    def test_the_command_compares_two_files(self, measured):
        folder = measured[0]
        run = json.loads((folder / "out/bench/run.json").read_text())
        for name, factor in (("before.json", 1), ("slower.json", 3)):
            for each in run["benchmarks"][0]["extra_info"]["figures"]:
                if each["ratio"]:  # steady ones: those of so short a run differ by what the machine does
                    each["ratio"] = 1.8 / factor
                    each["ratios"] = [(1.8 + 0.01 * (k % 3)) / factor for k in range(len(each["ratios"]))]
            (folder / name).write_text(json.dumps(run))
        arguments = ("--compare", "before.json", "slower.json")
        result = bench(*arguments, folder=folder, status=1)
        assert result.stderr == "Error: slower beyond the noise: sums.sum, sums.beyond\n"
        line = next(
            s for s in result.stdout.splitlines() if s.startswith("sums.sum ") and s.endswith("worse")
        )
        assert "3.00× slower" in line
        found = json.loads(bench(*arguments, "--json", folder=folder, status=1).stdout)
        assert found["comparison"]["rows"][0]["verdict"] == "worse"
        same = bench("--compare", "out/bench/run.json", "out/bench/run.json", folder=folder)
        assert "worse " not in same.stdout.partition("99 %")[2]


class TestTranslations:
    def test_bencher_metric_format(self, measured):
        bench("--bencher", "out/bmf.json", "out/bench/run.json", folder=measured[0])
        found = json.loads((measured[0] / "out/bmf.json").read_text())
        # Its schema: any name, any measure, a number `value` and perhaps `lower_value` and `upper_value`.
        for measures in found.values():
            for metric in measures.values():
                assert {"value"} <= set(metric) <= {"value", "lower_value", "upper_value"}
                assert all(isinstance(number, float | int) for number in metric.values())
        figures = record.read(measured[0] / "out/bench/run.json").figures
        of_sum = found["sums.sum"]
        assert of_sum["latency"]["value"] == pytest.approx(1e9 * figures["sums.sum"].value)  # nanoseconds
        assert of_sum["ratio"]["value"] == figures["sums.sum"].ratio
        assert of_sum["ratio"]["lower_value"] <= of_sum["ratio"]["value"] <= of_sum["ratio"]["upper_value"]
        assert "latency" in found["perf/test_sums.py::test_growth"]

    def test_units_have_measures_of_their_own(self):
        found = formats.bencher(run_with(*(figure(f"a.{k}", unit=u) for k, u in enumerate(("1/s", "B", "")))))
        assert [next(iter(found[f"a.{k}"])) for k in range(3)] == ["throughput", "memory", "factor"]

    def test_lists_for_github_action_benchmark(self, measured):
        bench("--action", "out/action.json", "out/bench/run.json", folder=measured[0])
        smaller, bigger = (
            json.loads((measured[0] / f"out/action.{w}.json").read_text()) for w in ("smaller", "bigger")
        )
        # Name, unit and value are needed; range and extra are texts.
        for entry in (*smaller, *bigger):
            assert {"name", "unit", "value"} <= set(entry) <= {"name", "unit", "value", "range", "extra"}
            assert isinstance(entry["value"], float)
            assert all(isinstance(entry[key], str) for key in entry if key != "value")
        assert [entry["name"] for entry in smaller] == ["sums.sum", "sums.beyond", "sums.time"]
        assert [entry["name"] for entry in bigger] == ["sums.sum ratio", "sums.beyond ratio"]
        assert bigger[0]["range"].startswith("± ")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (4.237e-6, "s", "4.24 µs"), (2.0, "s", "2.00 s"), (13.94e6, "1/s", "13.9 M/s"),
        (118e6, "B", "118 MB"), (0.4237, "B/cell", "0.424 B/cell"), (9.12, "", "9.12"),
        (math.inf, "s", "–"), (0.0, "s", "0 ns"),
        (3e-10, "s", "0.300 ns"),
        (123456.0, "", "123,456"),
    ],
)  # fmt: skip
def test_numbers_have_three_digits_and_a_unit(value, unit, text):
    assert words.number(value, unit) == text
