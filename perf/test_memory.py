"""What memory goes to: at its peak in a process of its own, and part by part."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from at_peak import PARTS
from figures import note
from rays import Hits

from ecs_audio.components.geometry import ROW_BYTES, Geometry
from ecs_audio.kernels.sections import OWN_ROWS, TAKEN

SCRIPT = Path(__file__).with_name("at_peak.py")


@pytest.mark.parametrize("kind", ["raid", "large"])
def test_peak(benchmark, quick, kind):
    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux tells the peak of a process's memory")
    if kind == "raid":
        numbers = [2 if quick else 20]
        what = f"{numbers[0]} s of the raid"
    else:
        numbers = [512, 256, 512] if quick else [2048, 256, 2048]
        what = f"a world of {' x '.join(map(str, numbers))}"
    told = {}

    def run():
        command = [sys.executable, str(SCRIPT), kind, *map(str, numbers)]
        told.update(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))

    benchmark.pedantic(run, rounds=1)
    benchmark.extra_info |= told
    short = ".short" if quick else ""  # of another size, so another history
    name = f"memory.{kind}{short}"
    note(benchmark, f"{name}.peak", f"Peak of a process with {what}", told["peak"], "B")
    note(benchmark, f"{name}.own", f"Of it beyond kernels, {what}", told["peak"] - told["kernels"], "B")
    for part in PARTS:
        note(benchmark, f"{name}.{part}", f"Arrays of {part}, {what}", told["parts"][part], "B")


def test_acoustic_copy(benchmark, land):
    """All its sections looked at, against 16 bytes a section and 512 a section that is not empty."""
    world, geometry = land.world, Geometry(1 << 28)
    low = 16 * np.stack(np.nonzero(world.slots >= 0), axis=1) + world.origin
    rng = np.random.default_rng(0)

    def look():
        for _ in range(4):
            origin, way = low + rng.uniform(0.1, 15.9, (len(low), 3)), rng.normal(size=(len(low), 3))
            Hits(world, origin, way, 32.0, 1, geometry)

    benchmark.pedantic(look, rounds=1)
    counts, rows = world.section_counts(), int(geometry.state[TAKEN])
    assert rows - OWN_ROWS > 0.95 * counts.mixed
    each = geometry.records.nbytes / world.slots.size
    row = (geometry.bits.nbytes + geometry.rows.nbytes) / geometry.rows.shape[1]
    formula = 16 * world.slots.size + ROW_BYTES * (counts.uniform + counts.mixed)
    taken = geometry.records.nbytes + rows * row
    benchmark.extra_info |= counts._asdict() | {"rows": rows, "bytes": taken, "at_most": geometry.bytes}
    note(benchmark, "memory.geometry", "The acoustic copy over what it should take", taken / formula, "")
    note(benchmark, "memory.section", "The acoustic copy of a section", each, "B")
    note(benchmark, "memory.mixed_section", "More for one of several materials", row, "B")
    cells = float(np.prod(world.size))
    note(benchmark, "memory.cell", "The acoustic copy of a cell", taken / cells, "B/cell")
    note(benchmark, "memory.world_cell", "The world itself, of a cell", world.memory() / cells, "B/cell")
