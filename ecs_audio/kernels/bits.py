"""The bits of a float64 as an int64: between them, whole numbers are converted by one addition.

Added to BIAS, a whole number below 2^51 stands in the low bits of the sum, which count by one there. So the
sum's bits less BIAS_BITS are the number, and to add anything else to BIAS rounds it. Processors without
AVX-512 have no vector conversion between the two types, and those with it save half.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

BIAS = 6755399441055744.0
BIAS_BITS = 0x4338_0000_0000_0000


@intrinsic
def bits_of(typing, number):
    """The bits of a float64."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def float_of(typing, bits):
    """The float64 that has these bits."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@intrinsic
def ask_for(typing, array, index):
    """Ask memory for an element that is read soon. index: uint64."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        whole = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, whole, whole, whole])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(prefetch, [pointer, whole(0), whole(3), whole(1)])
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate
