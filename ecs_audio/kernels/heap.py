"""A binary heap in two plain arrays: the smallest key comes out first, ties by item."""

from __future__ import annotations

import numpy as np

from ecs_audio.kernels.jit import Array, law

FIRST = np.int64(0)  # a literal 0 would make numba compile everything below once more


@law
def before(keys: Array, items: Array, a: int, b: int) -> bool:
    """Whether entry a comes out before entry b; the item decides ties, so the order is one."""
    return keys[a] < keys[b] or (keys[a] == keys[b] and items[a] < items[b])


@law
def sift_down(keys: Array, items: Array, root: int, count: int) -> None:
    """Let an entry sink until none below it comes out before it."""
    while True:
        child = 2 * root + 1
        if child >= count:
            return
        if child + 1 < count and before(keys, items, child + 1, child):
            child += 1
        if not before(keys, items, child, root):
            return
        keys[root], keys[child] = keys[child], keys[root]
        items[root], items[child] = items[child], items[root]
        root = child


@law
def heapify(keys: Array, items: Array, count: int) -> None:
    """Order the first `count` entries as a heap."""
    for root in range(count // 2 - 1, -1, -1):
        sift_down(keys, items, root, count)


@law
def pop(keys: Array, items: Array, count: int) -> int:
    """Take the first entry out and return its item; it is kept behind the remaining count - 1."""
    last = count - 1
    item = items[0]
    keys[0], keys[last] = keys[last], keys[0]
    items[0], items[last] = items[last], items[0]
    sift_down(keys, items, FIRST, last)
    return int(item)
