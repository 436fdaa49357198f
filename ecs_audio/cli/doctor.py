"""ecs-audio doctor: what this machine and its Python bring for sound, and what is missing."""

from __future__ import annotations

import os
import platform
import sys
import warnings
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from ecs_audio.cli import show
from ecs_audio.cli.errors import one_line, trace

OK: Final = "ok"

FEATURES: Final = ("sse2", "sse4.2", "avx", "avx2", "fma", "avx512f", "neon", "sve", "rvv")
"""Vector instructions that the mixer and the rays gain by, as LLVM calls them."""

RATE: Final = 48_000
"""That devices are tried with [Hz]."""


class Finding(NamedTuple):
    """What a probe found."""

    value: Any
    """None where there is nothing."""
    verdict: str = OK
    """`ok`, or what is missing and what to do."""


@click.command(short_help="What is there for sound, and what is missing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(as_json: bool) -> None:
    """Report versions, processor, compiled kernels, devices, and how sound would reach them.

    Opens the default device for a moment, in silence. Exits with 0 whatever is missing: it is a report.
    """
    findings = {name: _found(probe) for name, probe in PROBES.items()}
    missing = [name for name, finding in findings.items() if finding.verdict != OK]
    if as_json:
        show.json({"ok": not missing, "findings": {name: f._asdict() for name, f in findings.items()}})
        return
    rows = [(name, _written(finding.value), finding.verdict) for name, finding in findings.items()]
    show.table(("what", "found", "verdict"), rows)
    show.text()
    show.text(f"Not ok: {', '.join(missing)}." if missing else "Everything is there.")


def _found(probe: Callable[[], Finding]) -> Finding:
    """What a probe finds; whatever it raises is its verdict, and the others go on."""
    try:
        return probe()
    except ModuleNotFoundError as error:
        trace(error)
        package = str(error.name).partition(".")[0]
        return Finding(None, f"missing: {error.name} (python -m pip install {package})")
    except Exception as error:
        trace(error)
        if type(error).__module__.startswith("ecs_audio"):
            return Finding(None, f"missing: {one_line(str(error))}")
        return Finding(None, f"broken: {type(error).__name__}: {one_line(str(error))}")


def _written(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_written(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_written, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _package(name: str, library: str = "", version: str = "") -> Callable[[], Finding]:
    """A probe of a package that can be imported, and of the library in it."""

    def probe() -> Finding:
        module = import_module(name)
        found = metadata.version(name)
        return Finding(f"{found}, {library} {getattr(module, version)}" if library else found)

    return probe


def _own() -> Finding:
    package = import_module("ecs_audio")
    return Finding(f"{package.__version__} in {Path(str(package.__file__)).parent}")


def _python() -> Finding:
    return Finding(f"{platform.python_version()} ({sys.executable}), {platform.platform()}")


def _sounddevice() -> Finding:
    # Importing it looks for PortAudio, which has a line of its own.
    try:
        return Finding(metadata.version("sounddevice"))
    except metadata.PackageNotFoundError:
        return Finding(None, "missing: sounddevice (python -m pip install sounddevice)")


def _processor() -> Finding:
    llvm = import_module("llvmlite.binding")
    return Finding(f"{llvm.get_host_cpu_name()} ({platform.machine()})")


def _simd() -> Finding:
    features = import_module("llvmlite.binding").get_host_cpu_features()
    found = [name for name in FEATURES if features.get(name)]
    if any(name in found for name in ("avx2", "neon", "sve")):
        return Finding(found)
    return Finding(found, "missing: AVX2 or NEON; everything works, mixing takes about twice as long")


def _cores() -> Finding:
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if allowed > 1:
        return Finding(allowed)
    return Finding(allowed, "missing: a second core; rays, ticks and blocks share one")


def _cache() -> Finding:
    from ecs_audio.kernels import jit

    if jit.CACHED:
        return Finding(str(jit.CACHE_DIR))
    return Finding(
        str(jit.CACHE_DIR),
        "missing: the folder cannot be written, so every start compiles; set XDG_CACHE_HOME to one that can",
    )


def _kernels() -> Finding:
    import_module("ecs_audio.engine")  # which defines them all
    from ecs_audio.kernels import jit
    from ecs_audio.kernels.aside import in_cache

    compiled = sum(in_cache(kernel) for kernel in jit.KERNELS)
    files = jit.CACHE_DIR.rglob("*.nb*")
    megabytes = round(sum(file.stat().st_size for file in files) / 1e6, 1)
    value = {"compiled": compiled, "kernels": len(jit.KERNELS), "megabytes": megabytes}
    if compiled == len(jit.KERNELS):
        return Finding(value)
    return Finding(value, "missing: some, which the first run compiles within about a minute")


def _portaudio() -> Finding:
    from ecs_audio.output.devices import portaudio

    return Finding(portaudio().get_portaudio_version()[1])


def _device() -> Finding:
    from ecs_audio.output.devices import find_device

    device = find_device(None)
    return Finding({"name": device.name, "host_api": device.host_api, "rate": device.rate})


def _route() -> Finding:
    compiled = _tried("compiled")
    if compiled["route"] == "compiled":
        return Finding("compiled")
    python = _tried("python")
    if python["route"] == "python":
        return Finding(
            "python", f"missing: the compiled route, which no busy Python delays: {compiled['reason']}"
        )
    return Finding(None, f"missing: {python['reason']}")


def _tried(callback: str) -> dict[str, Any]:
    """The status of the default device, opened by a route for a moment."""
    from ecs_audio.output.devices import DeviceWarning
    from ecs_audio.output.outlet import Outlet
    from ecs_audio.output.ring import Ring

    outlet = Outlet(Ring(RATE), callback=callback)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeviceWarning)  # it is this line's verdict
        outlet.open()
    try:
        return outlet.status()
    finally:
        outlet.close()


PROBES: dict[str, Callable[[], Finding]] = {
    "ecs_audio": _own,
    "Python": _python,
    "numpy": _package("numpy"),
    "numba": _package("numba"),
    "llvmlite": _package("llvmlite"),
    "esper": _package("esper"),
    "soundfile": _package("soundfile", "libsndfile", "__libsndfile_version__"),
    "soxr": _package("soxr", "libsoxr", "__libsoxr_version__"),
    "sounddevice": _sounddevice,
    "processor": _processor,
    "SIMD": _simd,
    "cores": _cores,
    "cache": _cache,
    "kernels": _kernels,
    "PortAudio": _portaudio,
    "default device": _device,
    "route": _route,
}
"""Each line of the report, in its order."""
