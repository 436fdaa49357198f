"""Finding scenarios: the shipped ones by name, a user's own by the path of its file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import click

from ecs_audio.cli.errors import nearest, one_line

PACKAGE = "scenarios"


class Script(NamedTuple):
    """A scenario's file, loaded."""

    name: str
    file: Path
    title: str
    """First line of its docstring."""
    make: Callable[..., Any]
    """Its function `scenario`."""
    check: Callable[..., None] | None


def shipped() -> dict[str, Path]:
    """The scenarios that come with the package, by name; their files are not loaded."""
    spec = _package()
    folders = () if spec is None else (spec.submodule_search_locations or ())
    files = sorted(file for folder in folders for file in Path(folder).glob("*.py"))
    return {file.stem: file for file in files if not file.stem.startswith("_")}


def is_path(name: str) -> bool:
    """Whether it names a file instead of a shipped scenario."""
    return name.endswith(".py") or os.sep in name or (os.altsep is not None and os.altsep in name)


def locate(name: str) -> Path:
    """The file of a scenario. Raises UsageError when there is none, and suggests another."""
    known = shipped()
    if is_path(name):
        if not Path(name).is_file():
            hint = f"; the shipped scenario is called {Path(name).stem!r}" if Path(name).stem in known else ""
            raise click.UsageError(f"there is no file {name!r}{hint}")
        return Path(name)
    if name not in known:
        hint = nearest(name, known) or f"; there are {', '.join(known) or 'none'}"
        raise click.UsageError(f"there is no scenario {name!r}{hint}")
    return known[name]


def load(name: str) -> Script:
    """Load a scenario. Raises UsageError when there is none, ClickException when it cannot be loaded."""
    file = locate(name)
    try:
        with redirect_stdout(sys.stderr):  # stdout is for results
            module = _load_file(file) if is_path(name) else _load_shipped(name)
    except Exception as error:
        reason = f"{type(error).__name__}: {one_line(str(error))}"
        raise click.ClickException(f"{name} cannot be loaded: {reason}") from error
    make, check = getattr(module, "scenario", None), getattr(module, "check", None)
    if not callable(make):
        raise click.UsageError(f"{name} is no scenario: it has no function `scenario`")
    title = (module.__doc__ or "").strip().partition("\n")[0]
    return Script(file.stem, file, title, make, check if callable(check) else None)


def _package() -> ModuleSpec | None:
    # The one beside this package first: a user's folder may have a package of the same name.
    return PathFinder.find_spec(PACKAGE, [str(Path(__file__).parents[2])]) or find_spec(PACKAGE)


def _load_shipped(name: str) -> ModuleType:
    if PACKAGE not in sys.modules and (spec := _package()) is not None:
        _execute(spec)
    return import_module(f"{PACKAGE}.{name}")


def _load_file(file: Path) -> ModuleType:
    folder = str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)  # it may import its neighbours; last, so that they hide nothing
    spec = spec_from_file_location(f"scenario_file_{file.stem}", file)
    if spec is None:
        raise ImportError("a scenario is a Python file")
    return _execute(spec)


def _execute(spec: ModuleSpec) -> ModuleType:
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        if spec.loader is not None:
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module
