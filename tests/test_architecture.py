"""Imports run downhill: the command line, the engine, systems, then components and kernels."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLAIN = {
    "ecs_audio.presets",
    "ecs_audio.world",
    "ecs_audio.settings",
    "ecs_audio.telemetry",
    "ecs_audio.clips",
}
MAY_IMPORT = {
    "ecs_audio/kernels": {"ecs_audio.kernels", "numpy", "numba", "llvmlite"},
    "ecs_audio/components": {"ecs_audio.components", "numpy"},
    "ecs_audio/world": {"ecs_audio.world", "numpy", "msgspec", "lz4"},
    "ecs_audio/clips": {"ecs_audio.clips", "numpy", "soundfile", "soxr"},
    "ecs_audio/output": {"ecs_audio.output", "ecs_audio.kernels", "numpy", "soundfile", "sounddevice"},
    "ecs_audio/analysis": {"ecs_audio.analysis", "numpy", "scipy", "pyloudnorm"},
    "ecs_audio/report": {"ecs_audio", "numpy", "bokeh", "PIL", "soundfile"},
    "ecs_audio/explain": {"ecs_audio", "numpy"},
    "ecs_audio/bench": {"ecs_audio", "numpy", "msgspec", "bokeh", "pytest"},
    "ecs_audio/systems": {"ecs_audio.systems", "ecs_audio.components", "ecs_audio.kernels", "numpy", *PLAIN},
    "ecs_audio/cli": {"ecs_audio", "numpy", "numba", "click", "rich", "msgspec", "matplotlib"},
    "scenarios": {"ecs_audio", "scenarios", "numpy"},
}


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


@pytest.mark.parametrize("layer", MAY_IMPORT)
def test_a_layer_imports_only_what_lies_below_it(layer):
    files = list((ROOT / layer).glob("*.py"))
    assert files
    for path in files:
        for name in imports(path):
            allowed = any(f"{name}.".startswith(f"{prefix}.") for prefix in MAY_IMPORT[layer])
            assert allowed or name.split(".")[0] in sys.stdlib_module_names, f"{path} imports {name}"


def test_esper_is_imported_only_where_entities_are_made():
    users = {p.name for p in (ROOT / "ecs_audio").rglob("*.py") if "esper" in set(imports(p))}
    assert users == {"entities.py"}


def test_sounddevice_is_imported_only_where_the_sound_goes_out():
    users = {p.parent.name for p in (ROOT / "ecs_audio").rglob("*.py") if "sounddevice" in set(imports(p))}
    assert users <= {"output"}


def test_the_package_never_imports_scenarios():
    for path in (ROOT / "ecs_audio").rglob("*.py"):
        assert not any(name.split(".")[0] == "scenarios" for name in imports(path)), path


def test_files_stay_short_enough_to_hold_one_idea():
    long = {
        str(p): n for p in (ROOT / "ecs_audio").rglob("*.py") if (n := len(p.read_text().splitlines())) > 300
    }
    assert not long


def test_kernels_are_cached_under_a_name_that_changes_with_any_of_their_sources(tmp_path):
    import shutil

    from ecs_audio.kernels import jit

    kernels = Path(jit.__file__).parent
    copy = shutil.copytree(kernels, tmp_path / "kernels")
    assert jit.digest_of(copy) == jit.digest_of(kernels)
    (copy / "heap.py").write_text((copy / "heap.py").read_text() + "# edited\n")
    assert jit.digest_of(copy) != jit.digest_of(kernels)


def test_a_kernel_refuses_other_types_instead_of_compiling():
    import numpy as np

    from ecs_audio.kernels.easing import ease

    with pytest.raises(TypeError):
        ease(0.5, np.zeros(3, np.float32), np.zeros(3))


def test_importing_opens_no_device_and_compiles_nothing():
    import subprocess

    program = (
        "import sys, ecs_audio.engine; from ecs_audio.kernels import jit; "
        "assert 'sounddevice' not in sys.modules and len(jit.pending()) == len(jit.KERNELS) > 10"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
