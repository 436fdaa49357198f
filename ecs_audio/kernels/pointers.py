"""Addresses: calling compiled code and copying memory by address, where no Python may run.

A loop that calls kernels by name would have all of them compiled into it once more, 40 s of it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from ecs_audio.kernels.jit import prepare


def address_of(compiled: Any) -> int:
    """Where the machine code of a kernel begins; it stays there as long as the process lives."""
    if not compiled.signatures:
        prepare(compiled)
    result = compiled.overloads[compiled.signatures[0]]
    return int(result.library.get_pointer_to_function(result.fndesc.mangled_name))


def caller_of(result: Any, compiled: Any) -> Callable[..., Any]:
    """`call(address, *arguments)` for a kernel of this result type, to be used in other kernels.

    Numbers are cast to the types of the kernel's signature.
    """
    wanted = compiled.wanted

    @intrinsic
    def call(_typing: Any, _address: Any, *given: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            convention = context.call_conv
            function_type = convention.get_function_type(result, wanted)
            function = builder.inttoptr(arguments[0], function_type.as_pointer())
            out = cgutils.alloca_once(builder, convention.get_return_type(result).pointee)
            builder.store(cgutils.get_null_value(out.type.pointee), out)
            failure = cgutils.alloca_once(builder, function_type.args[1].pointee)
            values = [
                context.cast(builder, builder.extract_value(arguments[1], k), given[k], wanted[k])
                for k in range(len(wanted))
            ]
            flat = context.get_arg_packer(wanted).as_arguments(builder, values)
            code = builder.call(function, [out, failure, *flat])
            if config.BOUNDSCHECK:  # kernels raise nothing else
                status = context.call_conv._get_return_status(builder, code, builder.load(failure))
                with builder.if_then(status.is_error):
                    context.call_conv.return_status_propagate(builder, status)
            if result is types.none:
                return context.get_dummy_value()
            return context.get_returned_value(builder, result, builder.load(out))

        return result(types.int64, types.StarArgTuple(given)), generate

    return call


@intrinsic
def sleep_by(_typing: Any, _address: Any, _amount: Any) -> Any:
    """sleep_by(address, amount): call a C function of one unsigned int, such as usleep."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        word = ir.IntType(32)
        function = builder.inttoptr(arguments[0], ir.FunctionType(word, [word]).as_pointer())
        return builder.sext(builder.call(function, [builder.trunc(arguments[1], word)]), ir.IntType(64))

    return types.int64(types.int64, types.int64), generate


@intrinsic
def clock_by(_typing: Any, _address: Any, _which: Any, _out: Any) -> Any:
    """clock_by(address, which, out): call clock_gettime(which, out), out the address of two int64."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        word, long = ir.IntType(32), ir.IntType(64)
        function = builder.inttoptr(arguments[0], ir.FunctionType(word, [word, long]).as_pointer())
        which = builder.trunc(arguments[1], word)
        return builder.sext(builder.call(function, [which, arguments[2]]), long)

    return types.int64(types.int64, types.int64, types.int64), generate


@intrinsic
def copy_bytes(_typing: Any, _to: Any, _source: Any, _count: Any) -> Any:
    """copy_bytes(to, source, count): copy bytes from one address to another."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        to, source = builder.inttoptr(arguments[0], byte), builder.inttoptr(arguments[1], byte)
        cgutils.raw_memcpy(builder, to, source, arguments[2], 1)
        return arguments[2]

    return types.int64(types.int64, types.int64, types.int64), generate


def _array_of(element: Any) -> Callable[..., Any]:
    """`array(address, count)`: what lies at an address as a one-dimensional array that owns nothing."""

    @intrinsic
    def array(_typing: Any, _address: Any, _count: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            result = context.make_array(signature.return_type)(context, builder)
            size = context.get_abi_sizeof(context.get_data_type(element))
            width = context.get_constant(types.intp, size)
            data = builder.inttoptr(arguments[0], context.get_data_type(element).as_pointer())
            populate_array(
                result, data=data, shape=[arguments[1]], strides=[width], itemsize=width, meminfo=None
            )  # fmt: skip
            return result._getvalue()

        return types.Array(element, 1, "C")(types.int64, types.int64), generate

    return array


def record_at(record: Any) -> Callable[..., Any]:
    """`record(address)`: a record of C-contiguous arrays that own nothing, records within it included.

    record: its type. At the address stand, of each array in order, its address and its shape, all int64.
    """

    @intrinsic
    def at(_typing: Any, _address: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            source = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
            places = count()

            def read() -> Any:
                return builder.load(builder.gep(source, [ir.Constant(ir.IntType(64), next(places))]))

            def take(kind: Any) -> Any:
                if isinstance(kind, types.BaseTuple):
                    return context.make_tuple(builder, kind, [take(part) for part in kind.types])
                result = context.make_array(kind)(context, builder)
                element = context.get_data_type(kind.dtype)
                width = context.get_constant(types.intp, context.get_abi_sizeof(element))
                data, shape, strides = read(), [read() for _ in range(kind.ndim)], [width]
                for length in shape[:0:-1]:
                    strides.insert(0, builder.mul(strides[0], length))
                populate_array(
                    result, data=builder.inttoptr(data, element.as_pointer()), shape=shape, strides=strides,
                    itemsize=width, meminfo=None,
                )  # fmt: skip
                return result._getvalue()

            return take(record)

        return record(types.int64), generate

    return at


floats_at, integers_at = _array_of(types.float32), _array_of(types.int64)
