"""A pytest plugin: notes which benchmark begins and how each ends, for who waits for the run.

It lives in the process of the benchmarks and appends one JSON object a line to the file that FILE names.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pytest

FILE: Final = "ECS_AUDIO_BENCH_EVENTS"
"""The environment variable with the path of the file."""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note how many there are."""
    _note(event="collected", count=len(session.items))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a file that cannot be imported."""
    if report.failed:
        _note(event="failed", name=report.nodeid, why=report.longreprtext)


def pytest_runtest_logstart(nodeid: str) -> None:
    """Note that a benchmark begins."""
    _note(event="started", name=nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note why a benchmark gave nothing."""
    if report.failed:
        output = [text for _, text in report.sections if text.strip()]
        _note(event="failed", name=report.nodeid, why="\n".join([*output, report.longreprtext]))
    elif report.skipped and isinstance(report.longrepr, tuple):
        _note(event="skipped", name=report.nodeid, why=str(report.longrepr[2]).removeprefix("Skipped: "))


def pytest_runtest_logfinish(nodeid: str) -> None:
    """Note that a benchmark is over, however it ended."""
    _note(event="finished", name=nodeid)


def _note(**what: Any) -> None:
    with open(os.environ[FILE], "a", encoding="utf-8") as file:
        file.write(json.dumps(what) + "\n")
