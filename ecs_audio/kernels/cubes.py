"""Empty cubes of sections: how far a ray may leap, for each of the eight octants it can travel in.

A section's cube is the side of the largest cube of sections like it, all known air or all unknown, that
begins at it and lies ahead: one more than the least of its seven neighbours ahead, at most 15. Beyond the
world there is nothing to hit, so the cubes go on there. Bit `axis` of an octant says: upwards along it.
"""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.jit import Array, law
from ecs_audio.kernels.sections import EMPTY, LOW

LONGEST = 15
_NIBBLE = np.uint64(15)


@law
def cube_of(records: Array, box: Array, place: int, octant: int) -> int:
    """Cube of a section, from its neighbours' cubes."""
    i, j, k = place // (box[4] * box[5]), place // box[5] % box[4], place % box[5]
    shift = np.uint64(32 + 4 * octant)
    own = records[2 * place + 1] & LOW
    least = LONGEST - 1
    for corner in range(1, 8):
        a = i + (corner & 1) * (2 * (octant & 1) - 1)
        b = j + (corner >> 1 & 1) * (2 * (octant >> 1 & 1) - 1)
        c = k + (corner >> 2) * (2 * (octant >> 2) - 1)
        if 0 <= a < box[3] and 0 <= b < box[4] and 0 <= c < box[5]:
            rest = records[2 * ((a * box[4] + b) * box[5] + c) + 1]
            least = min(least, np.int64((rest >> shift) & _NIBBLE) if rest & LOW == own else 0)
    return least + 1 if records[2 * place] == EMPTY else 0


@law
def set_cube(records: Array, place: int, octant: int, cube: int) -> None:
    """Write the cube of a section for one octant."""
    shift = np.uint64(32 + 4 * octant)
    rest = records[2 * place + 1]
    records[2 * place + 1] = (rest & ~(_NIBBLE << shift)) | (np.uint64(cube) << shift)


@law
def all_cubes(records: Array, box: Array) -> None:
    """Find the cubes of all sections."""
    for octant in range(8):
        for n in range(box[3]):
            i = box[3] - 1 - n if octant & 1 else n
            for m in range(box[4]):
                j = box[4] - 1 - m if octant & 2 else m
                for o in range(box[5]):
                    k = box[5] - 1 - o if octant & 4 else o
                    place = (i * box[4] + j) * box[5] + k
                    set_cube(records, place, octant, cube_of(records, box, place, octant))


@law
def cubes_around(records: Array, box: Array, place: int, shrink: bool) -> None:
    """Set the cubes of all sections that a section lies ahead of, after it has changed.

    shrink: it ends the cubes that held it; otherwise they may have grown. Shell by shell away from it, until
    a shell stays as it was: then all further ones do, since a cube is at most one more than its neighbour's.
    """
    i, j, k = place // (box[4] * box[5]), place // box[5] % box[4], place % box[5]
    for octant in range(8):
        di, dj, dk = 1 - 2 * (octant & 1), 1 - 2 * (octant >> 1 & 1), 1 - 2 * (octant >> 2)
        far_i, far_j = (i if di < 0 else box[3] - 1 - i), (j if dj < 0 else box[4] - 1 - j)
        far_k = k if dk < 0 else box[5] - 1 - k
        shift = np.uint64(32 + 4 * octant)
        shell, changed = 1, True
        while changed and shell < LONGEST:
            changed = False
            for n in range(min(shell, far_i) + 1):
                for m in range(min(shell, far_j) + 1):
                    nearest = 0 if n == shell or m == shell else shell
                    for o in range(nearest, min(shell, far_k) + 1):
                        other = ((i + di * n) * box[4] + (j + dj * m)) * box[5] + (k + dk * o)
                        cube = np.int64((records[2 * other + 1] >> shift) & _NIBBLE)
                        wanted = min(cube, shell) if shrink else cube_of(records, box, other, octant)
                        if wanted != cube:
                            set_cube(records, other, octant, wanted)
                            changed = True
            shell += 1
