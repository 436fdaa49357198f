"""World files read the obvious way: all of their NBT as Python objects, then block by block."""

from __future__ import annotations

import gzip
import struct
import zlib

import numpy as np

NUMBERS = {1: ">b", 2: ">h", 3: ">i", 4: ">q", 5: ">f", 6: ">d"}
ARRAYS = {7: ">i1", 11: ">i4", 12: ">i8"}


class Reader:
    """Takes values from the front of some bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, code):
        (value,) = struct.unpack_from(code, self.data, self.at)
        self.at += struct.calcsize(code)
        return value

    def text(self):
        length = self.number(">H")
        self.at += length
        return self.data[self.at - length : self.at].decode("utf-8", "replace")

    def value(self, tag):
        if tag in NUMBERS:
            return self.number(NUMBERS[tag])
        if tag == 8:
            return self.text()
        if tag in ARRAYS:
            length, dtype = self.number(">i"), np.dtype(ARRAYS[tag])
            self.at += length * dtype.itemsize
            return np.frombuffer(self.data, dtype, length, self.at - length * dtype.itemsize).tolist()
        if tag == 9:
            inner, length = self.number(">b"), self.number(">i")
            return [self.value(inner) for _ in range(length)]
        found = {}
        while inner := self.number(">b"):
            name = self.text()
            found[name] = self.value(inner)
        return found


def nbt(data):
    """The root compound of an NBT document."""
    reader = Reader(data)
    reader.number(">b")
    reader.text()
    return reader.value(10)


def name_of(state):
    """A block's name as materials know it."""
    return state["Name"].removeprefix("minecraft:")


def region(data, every=1):
    """Sections of every so manieth chunk of a region: names of blocks by (x, y, z) of the section."""
    sections = {}
    present = [k for k in range(1024) if struct.unpack_from(">I", data, 4 * k)[0]]
    for k in present[::every]:
        offset = 4096 * (struct.unpack_from(">I", data, 4 * k)[0] >> 8)
        (length,) = struct.unpack_from(">I", data, offset)
        tree = nbt(zlib.decompress(data[offset + 5 : offset + 4 + length], 47))
        for section in tree.get("sections", tree.get("Level", {}).get("Sections", ())):
            states = section.get("block_states", section)
            names = [name_of(state) for state in states.get("palette", states.get("Palette", ()))]
            if names:
                longs = states.get("data", states.get("BlockStates"))
                sections[k % 32, section["Y"], k // 32] = blocks(names, longs)
    return sections


def blocks(names, longs):
    """The names of the 4096 blocks of a section."""
    if longs is None:
        return [names[0]] * 4096
    bits = max(4, (len(names) - 1).bit_length())
    each, mask = 64 // bits, (1 << bits) - 1
    return [names[longs[k // each] >> k % each * bits & mask] for k in range(4096)]


def schematic(data):
    """Names of a Sponge schematic by x, y, z, and its size."""
    tree = nbt(gzip.decompress(data))
    tree = tree.get("Schematic", tree)
    packed = tree.get("BlockData") or tree["Blocks"]["Data"]
    palette = tree.get("Palette") or tree["Blocks"]["Palette"]
    names = {index: name.partition("[")[0].removeprefix("minecraft:") for name, index in palette.items()}
    wide, high, long = (tree[key] & 0xFFFF for key in ("Width", "Height", "Length"))
    found, at = {}, 0
    for y in range(high):
        for z in range(long):
            for x in range(wide):
                index = shift = 0
                while True:
                    byte = packed[at]
                    index |= (byte & 127) << shift
                    at, shift = at + 1, shift + 7
                    if byte >= 0:
                        break
                found[x, y, z] = names[index]
    return found, (wide, high, long)


def mcedit(data):
    """Id and data value of each block of an MCEdit schematic, as id * 16 + data, by y, z, x; and its size."""
    tree = nbt(gzip.decompress(data))
    size = tuple(tree[key] for key in ("Width", "Height", "Length"))
    return [(b & 255) << 4 | d & 15 for b, d in zip(tree["Blocks"], tree["Data"], strict=True)], size


def litematic(data):
    """The names of the only region of a Litematica schematic by y, z, x; and its size."""
    (box,) = nbt(gzip.decompress(data))["Regions"].values()
    size = tuple(abs(box["Size"][axis]) for axis in "xyz")
    names = [name_of(state) for state in box["BlockStatePalette"]]
    bits, longs = max(2, (len(names) - 1).bit_length()), [n & (1 << 64) - 1 for n in box["BlockStates"]]
    longs.append(0)
    found, mask = [], (1 << bits) - 1
    for k in range(size[0] * size[1] * size[2]):
        long, shift = divmod(k * bits, 64)
        found.append(names[(longs[long] | longs[long + 1] << 64) >> shift & mask])
    return found, size


def vox(data):
    """The colours of the only model of a .vox file by its own x, y, z; and its size."""
    found, size, at = {}, None, 20
    while at < len(data):
        kind, length = struct.unpack_from("<4si", data, at)
        at += 12
        if kind == b"SIZE":
            size = struct.unpack_from("<3i", data, at)
        elif kind == b"XYZI":
            for k in range(struct.unpack_from("<i", data, at)[0]):
                x, y, z, colour = struct.unpack_from("4B", data, at + 4 + 4 * k)
                found[x, y, z] = colour
        at += length
    return found, size


def luanti(rows, unpack, every=1):
    """Names of the nodes of every so manieth map block of format 29 by z, y, x; by the block's number."""
    found = {}
    for pos, data in rows[::every]:
        block = unpack(data[1:])
        (count,), at, names = struct.unpack_from(">H", block, 8), 10, {}
        for _ in range(count):
            number, length = struct.unpack_from(">HH", block, at)
            at += 4 + length
            names[number] = block[at - length : at].decode()
        found[pos] = [names[n] for n in struct.unpack_from(">4096H", block, at + 2)]
    return found
