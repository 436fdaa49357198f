"""A quantum of one lane out of the bank: from its clip, or from one of the clip's band-limited copies."""

from __future__ import annotations

from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.read import read_linear, read_sinc
from ecs_audio.kernels.simd import prefetch
from ecs_audio.kernels.strip import QUANTUM

SPILL = 256
"""Frames that a band-limited copy goes on before and after its clip."""
LINE, LINES = 16, 8
"""Samples in a cache line, and lines that a quantum takes at up to 1.75 times a clip's speed. Fewer save
nothing, but what was not asked for is waited for."""


@law
def ask_for_next(bank: Array, index: int) -> None:
    """Let what comes after a place be fetched from memory meanwhile: no lane but this one needs it.

    Always as many lines: the end of a loop that is another one for each lane is guessed wrong each time.
    """
    for k in range(1, 1 + LINES):
        prefetch(bank, index + LINE * k)


@law
def draw(
    bank: Array,
    table: Array,
    edge: Array,
    base: int,
    stride: int,
    length: int,
    looping: bool,
    octave: int,
    sinc: int,
    position: int,
    speed: int,
    speed_after: int,
    lanes: Array,
    start: int,
    moving: int,
) -> int:
    """A quantum of one lane to lanes[start:start + 64]; returns its position after that.

    base, stride, length: where the clip lies in the bank, and how far apart its copies [frames].
    octave: which of them is read. A copy of a one-shot sounds a little before and after its clip.
    speed, speed_after: [32.32], the one for `moving` frames, then the other. table, edge: see `read_sinc`.
    """
    turn = start + (moving if speed != speed_after else QUANTUM)
    base += octave * stride
    spill = SPILL if octave > 0 else 0
    early = 0 if looping else spill
    if not looping:
        base, length, spill = base - spill, length + 2 * spill, 0
    place = position + (early << 32)
    for leg in range(2):
        a = start if leg == 0 else turn
        b = turn if leg == 0 else start + QUANTUM
        pace = speed if leg == 0 else speed_after
        if a == b:
            continue
        if sinc:
            place = read_sinc(bank, table, edge, base, length, looping, spill, place, pace, lanes, a, b)
        else:
            place = read_linear(bank, base, length, looping, spill, place, pace, lanes, a, b)
    return place - (early << 32)
