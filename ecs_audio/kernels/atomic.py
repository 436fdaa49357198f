"""Two threads share an array without a lock: what was written before a number is seen with it."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


def _place(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


@intrinsic
def load_acquire(typing: Any, array: Any, index: Any) -> Any:
    """A number of a C-contiguous int64 array. What its writer wrote before it is seen from now on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_place(context, builder, array, *arguments), "acquire", 8)

    return types.int64(array, types.int64), generate


@intrinsic
def store_release(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Write a number of a C-contiguous int64 array. Who sees it sees all that was written before it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        *where, number = arguments
        builder.store_atomic(number, _place(context, builder, array, *where), "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), generate
