"""MagicaVoxel files: a real one against a reader of a few lines, scenes, and what no file may do."""

import math
import struct
from collections import Counter
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from test_world_files import load, real, refused, survive

from ecs_audio.world import Palette, World
from ecs_audio.world.vox_colours import _shipped, default_colours, names_of

# A writer of vox files.


def chunk(kind: str, *parts: bytes | int | str | dict[str, str]) -> bytes:
    data = b"".join(field(part) for part in parts)
    return struct.pack("<4sII", kind.encode(), len(data), 0) + data


def field(part: bytes | int | str | dict[str, str]) -> bytes:
    if isinstance(part, int):
        return struct.pack("<i", part)
    if isinstance(part, str):
        return field(len(part)) + part.encode()
    if isinstance(part, dict):
        return field(len(part)) + b"".join(field(text) for pair in part.items() for text in pair)
    return part


def vox(*chunks: bytes, version: int = 150) -> bytes:
    data = b"".join(chunks)
    return struct.pack("<4sI4sII", b"VOX ", version, b"MAIN", 0, len(data)) + data


def model(size: tuple[int, int, int], *voxels: tuple[int, int, int, int]) -> bytes:
    return chunk("SIZE", *size) + chunk("XYZI", len(voxels), *(bytes(voxel) for voxel in voxels))


def transform(node: int, child: int, layer: int = -1, hidden: str = "0", **frame: str) -> bytes:
    return chunk(
        "nTRN", node, {"_hidden": hidden}, child, -1, layer, 1, {f"_{k}": v for k, v in frame.items()}
    )


def group(node: int, *children: int) -> bytes:
    return chunk("nGRP", node, {}, len(children), *children)


def shape(node: int, *models: int) -> bytes:
    return chunk("nSHP", node, {}, len(models), *(part for model in models for part in (model, {})))


def layer(number: int, hidden: bool) -> bytes:
    return chunk("LAYR", number, {"_name": "x", "_hidden": str(int(hidden))}, -1)


def code(columns: tuple[int, int, int], signs: tuple[int, int, int]) -> str:
    return str(columns[0] | columns[1] << 2 | sum((sign < 0) << 4 + row for row, sign in enumerate(signs)))


WHITE, RED, BLUE = 1, 216, 236
"""Indices into the colours of a file without any."""
SMALL = vox(
    model((3, 4, 2), (0, 0, 0, WHITE), (2, 3, 1, RED)),
    model((1, 1, 1), (0, 0, 0, BLUE)),
    transform(0, 1),
    group(1, 2, 4),
    transform(2, 3, 0, t="0 0 1", r=code((1, 0, 2), (-1, 1, 1))),
    shape(3, 0),
    transform(4, 5, t="5 -2 0"),
    shape(5, 1),
    layer(0, False),
    chunk("RGBA", default_colours()[1:].repeat([1, 1, 2], axis=1).tobytes(), bytes(4)),
    chunk("MATL", WHITE, {"_type": "_glass"}),
    chunk("NOTE", b"of no interest"),
)


def filled(world: World) -> dict[tuple[int, int, int], str]:
    ids = world.ids(world.origin, world.origin + world.size)
    return {tuple(cell): world.palette.names[ids[tuple(cell)]] for cell in np.argwhere(ids).tolist()}


def test_the_real_street_has_the_voxels_that_a_naive_reader_finds() -> None:
    path = real("vox_mmmm_scene_riot.vox")
    world = World.load(path)
    data = path.read_bytes()
    at, chunks = 20, {}
    while at < len(data):
        kind, own, below = struct.unpack_from("<4sII", data, at)
        chunks[kind] = data[at + 12 : at + 12 + own]
        at += 12 + own + below
    assert at == len(data)
    voxels = [tuple(chunks[b"XYZI"][i : i + 4]) for i in range(4, len(chunks[b"XYZI"]), 4)]
    assert struct.unpack("<3I", chunks[b"SIZE"]) == (126, 126, 32)
    assert world.size.tolist() == [126, 32, 126]
    assert len(voxels) == 163_171
    colours = np.zeros((256, 3), np.uint8)
    for index in range(255):
        colours[index + 1] = list(chunks[b"RGBA"][4 * index : 4 * index + 3])
    names = names_of(colours, {})
    # x stays, z up becomes y, and y counts from the far end.
    expected = {(x, z, 125 - y): names[index] for x, y, z, index in voxels}
    assert len(expected) == len(voxels)
    assert filled(world) == expected
    assert world.palette.unknown == []
    assert world.report == []
    counts = world.section_counts()
    assert counts.uniform > 10
    most = Counter(expected.values()).most_common(1)[0]
    assert most[0] == "stone"
    assert world.heights().max() == 27


# Scenes


def test_models_are_turned_and_placed_by_their_scene(tmp_path: Path) -> None:
    world = load(tmp_path, SMALL)
    # The first model turns about (1, 2, 1) and goes up by 1: x' = -y, y' = x; the other lies at (5, -2, 0).
    assert world.size.tolist() == [8, 2, 4]
    # So y is from -1 (south) to 2 and x from -2 to 2; the other is at x = 5, y = -2 of the same coordinates.
    assert filled(world) == {(3, 0, 2): "glass", (0, 1, 0): "red_concrete", (7, 0, 3): "blue_concrete"}
    assert world.report == []


@pytest.mark.parametrize("columns", list(permutations(range(3))))
@pytest.mark.parametrize("signs", list(product((1, -1), repeat=3)))
def test_a_model_turns_about_its_middle_in_all_48_ways(
    tmp_path: Path, columns: tuple[int, int, int], signs: tuple[int, int, int]
) -> None:
    size = (3, 4, 5)
    voxels = [(0, 0, 0), (2, 3, 4), (1, 2, 2), (2, 0, 3), (0, 1, 0)]
    fixed = model((1, 1, 1), (0, 0, 0, RED))
    scene = [
        transform(0, 1),
        group(1, 2, 4),
        transform(2, 3, t="7 -9 11", r=code(columns, signs)),
        shape(3, 0),
    ]
    # A single voxel far below and aside tells where the box begins.
    scene += [transform(4, 5, t="-20 -30 -40"), shape(5, 1)]
    world = load(tmp_path, vox(model(size, *((*voxel, WHITE) for voxel in voxels)), fixed, *scene))
    turned = []
    for voxel in voxels:
        middle = [at + 0.5 - edge // 2 for at, edge in zip(voxel, size, strict=True)]
        x, y, z = (sign * middle[column] for sign, column in zip(signs, columns, strict=True))
        turned.append((math.floor(x + 7), math.floor(z + 11), math.floor(9 - y)))
    # The single voxel is the lowest and westernmost, the model lies north of it.
    low = -20, -40, min(z for _, _, z in turned)
    expected = {tuple(np.subtract(cell, low).tolist()): "white_concrete" for cell in turned}
    assert filled(world) == expected | {(0, 0, 29 - low[2]): "red_concrete"}


def test_nested_transforms_add_up(tmp_path: Path) -> None:
    quarter = code((1, 0, 2), (-1, 1, 1))
    body = model((1, 1, 1), (0, 0, 0, RED)), model((1, 1, 1), (0, 0, 0, BLUE))
    scene = [
        transform(0, 1),
        group(1, 2, 6),
        transform(2, 3, t="10 0 0", r=quarter),
        group(3, 4),
        transform(4, 5, t="0 3 0", r=quarter),
        shape(5, 0),
        transform(6, 7),
        shape(7, 1),
    ]
    # A quarter turn makes 3 to the north 3 to the west; after two, the voxel at (0, 0) lies at (-1, -1).
    assert filled(load(tmp_path, vox(*body, *scene))) == {
        (6, 0, 1): "red_concrete",
        (0, 0, 0): "blue_concrete",
    }


def test_a_model_may_be_placed_often_and_the_later_one_wins(tmp_path: Path) -> None:
    bodies = model((2, 1, 1), (0, 0, 0, RED), (1, 0, 0, RED)), model((2, 1, 1), (0, 0, 0, BLUE))
    scene = [transform(0, 1), group(1, 2, 4, 6)]
    for node, x, number in ((2, 1, 0), (4, 5, 0), (6, 5, 1)):
        scene += [transform(node, node + 1, t=f"{x} 0 0"), shape(node + 1, number)]
    world = load(tmp_path, vox(*bodies, *scene))
    # An empty voxel of the later model does not clear what was there.
    assert filled(world) == {
        (0, 0, 0): "red_concrete",
        (1, 0, 0): "red_concrete",
        (4, 0, 0): "blue_concrete",
        (5, 0, 0): "red_concrete",
    }


def test_hidden_models_are_left_out_and_reported(tmp_path: Path) -> None:
    bodies = [model((1, 1, 1), (0, 0, 0, index)) for index in (RED, BLUE, WHITE)]
    scene = [transform(0, 1), group(1, 2, 4, 6), layer(3, True), layer(4, False)]
    scene += [
        transform(2, 3, 3),
        shape(3, 0),
        transform(4, 5, 4),
        shape(5, 1),
        transform(6, 7, 4, "1"),
        shape(7, 2),
    ]
    world = load(tmp_path, vox(*bodies, *scene))
    assert filled(world) == {(0, 0, 0): "blue_concrete"}
    assert world.report == ["left out 2 of 3 models, which are hidden."]
    refused(tmp_path, vox(bodies[0], transform(0, 1, hidden="1"), shape(1, 0)), "no model that is shown")


def test_without_a_scene_further_models_are_frames(tmp_path: Path) -> None:
    world = load(tmp_path, vox(chunk("PACK", 2), model((2, 3, 4), (0, 0, 0, RED)), model((9, 9, 9))))
    assert world.size.tolist() == [2, 4, 3]
    assert filled(world) == {(0, 0, 2): "red_concrete"}
    assert world.report == ["left out 1 of 2 models: without a scene they are frames."]


def test_full_sections_become_uniform(tmp_path: Path) -> None:
    voxels = [(x, y, z, RED if x < 16 else BLUE) for x in range(32) for y in range(16) for z in range(16)]
    world = load(tmp_path, vox(model((32, 16, 17), *voxels), version=200))
    assert world.section_counts() == (2, 2, 0, 0)
    assert world.material((15, 3, 3)) == "red_concrete"
    assert world.material((16, 3, 3)) == "blue_concrete"
    world.set((0, 0, 0), "glass")
    assert world.section_counts() == (2, 1, 1, 0)


# Colours


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        ("#ffffff", "white_concrete"),
        ("#888888", "stone"),
        ("#747474", "cobblestone"),
        ("#000000", "black_concrete"),
        ("#ff0000", "red_concrete"),
        ("#00ff00", "lime_concrete"),
        ("#0000ff", "blue_concrete"),
        ("#986430", "oak_planks"),
        ("#401808", "dark_oak_planks"),
        ("#143c14", "oak_leaves"),
        ("#f0dcb4", "sand"),
    ],
)
def test_a_colour_is_the_block_of_the_nearest_one(colour: str, name: str) -> None:
    colours = np.zeros((256, 3), np.uint8)
    colours[7] = list(bytes.fromhex(colour[1:]))
    assert names_of(colours, {})[7] == name


def test_materials_name_a_block_where_their_type_does() -> None:
    names = names_of(default_colours(), {1: "_glass", 2: "_metal", 3: "_diffuse", 4: "strange"})
    assert names[1:5] == ["glass", "iron_block", *names_of(default_colours(), {})[3:5]]


def test_no_colour_is_open_or_a_fluid() -> None:
    tree = _shipped()
    palette = Palette()
    ids = [palette.id(name) for name in [*tree["colours"], *tree["types"].values()]]
    assert palette.unknown == []
    assert {int(palette.kind[number]) for number in ids} == {1}
    colours = np.array([list(bytes.fromhex(text[1:])) for text in tree["colours"].values()], np.uint8)
    assert names_of(np.resize(colours, (256, 3)), {})[: len(colours)] == list(tree["colours"])


def test_a_file_without_colours_has_the_default_ones() -> None:
    colours = default_colours().tolist()
    assert len(colours) == 256
    assert colours[1:4] == [[255, 255, 255], [255, 255, 204], [255, 255, 153]]
    assert colours[215:217] == [[0, 0, 51], [238, 0, 0]]
    assert colours[255] == [17, 17, 17]


# What makes no sense


BODY = model((3, 4, 2), (0, 0, 0, 1))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (vox(), "it has no model"),
        (vox(BODY)[:8] + b"NIAM" + vox(BODY)[12:], "no chunk MAIN at byte 8"),
        (vox(BODY) + b"x", None),
        (vox(BODY)[:-1], "its chunk MAIN should end at byte 64, but the file ends at 63"),
        (vox(BODY, b"RGBA"), "a chunk at byte 64 that is cut off"),
        (vox(struct.pack("<4sII", b"SIZE", 12, 2**32 - 1)), "its chunk b'SIZE' before byte 32 should end"),
        (vox(chunk("XYZI", 0)), "it has voxels at byte 32 without a size before them"),
        (vox(chunk("SIZE", 3, 4), chunk("XYZI", 0)), "a chunk that ends early, at byte 40"),
        (vox(chunk("SIZE", 3, 0, 4)), "a model of 3x0x4 voxels at byte 32, not of 1 to 256"),
        (vox(chunk("SIZE", 3, 257, 4)), "a model of 3x257x4 voxels"),
        (vox(chunk("SIZE", 3, -2, -4)), "a model of 3x-2x-4 voxels"),
        (
            vox(chunk("SIZE", 3, 4, 2), chunk("XYZI", 2**30, bytes(4))),
            "1073741824 voxels at byte 56, more than",
        ),
        (vox(chunk("SIZE", 3, 4, 2), chunk("XYZI", -1, bytes(4))), "-1 voxels at byte 56, more than"),
        (vox(model((3, 4, 2), (0, 4, 0, 1))), "a voxel outside its model of 3x4x2"),
        (vox(BODY, chunk("RGBA", bytes(1000))), "palette at byte 76 has 1000 bytes instead of 1024"),
        (vox(BODY, chunk("MATL", 1, 2**31 - 1)), "a chunk that ends early"),
        (vox(BODY, chunk("MATL", 1, 1, 2**31 - 1, b"xx")), "a text of 2147483647 bytes at byte 88"),
        (vox(BODY, chunk("MATL", 1, 1, -1, b"xx")), "a text of -1 bytes"),
        (vox(BODY, chunk("nGRP", 0, {}, 2**31 - 1)), "a chunk that ends early"),
        (vox(BODY, group(0, 1)), "its scene has the node 1 nowhere"),
        (vox(BODY, shape(1, 0)), "its scene has the node 0 nowhere"),
        (vox(BODY, group(0, 0)), "its scene has the node 0 twice"),
        (vox(BODY, group(0, 1, 1), shape(1, 0)), "its scene has the node 1 twice"),
        (vox(BODY, shape(0, 0), shape(0, 0)), "it has the node 0 twice"),
        (vox(BODY, shape(0, 1)), "its scene places the model 1 of 1"),
        (vox(BODY, shape(0, -1)), "its scene places the model -1 of 1"),
        (vox(BODY, group(0)), "no model that is shown"),
        (vox(BODY, transform(0, 1, r="5"), shape(1, 0)), "a node with the rotation b'5'"),
        (vox(BODY, transform(0, 1, r="3"), shape(1, 0)), "a node with the rotation b'3'"),
        (vox(BODY, transform(0, 1, r="x"), shape(1, 0)), "a node with the rotation b'x'"),
        (vox(BODY, transform(0, 1, t="1 2"), shape(1, 0)), "a node with the translation b'1 2'"),
        (vox(BODY, transform(0, 1, t="1 2 --3"), shape(1, 0)), "a node with the translation"),
        (vox(BODY, transform(0, 1, t="1 2 3000000000"), shape(1, 0)), "a node with the translation"),
        (
            vox(BODY, group(0, 1, 3), transform(1, 2, t="2000000000 0 0"), shape(2, 0), shape(3, 0)),
            "its 2000000003x2x4 cells are more than 1073741824",
        ),
        (
            vox(BODY, group(0, 1, 3), transform(1, 2, t="20000000 0 0"), shape(2, 0), shape(3, 0)),
            "its 20000003x2x4 cells touch more than 262144 sections",
        ),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path: Path, data: bytes, message: str | None) -> None:
    if message is None:
        load(tmp_path, data)
    else:
        refused(tmp_path, data, message)


def test_a_small_file_that_places_too_many_voxels_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ecs_audio.world.vox._MAX_VOXELS", 100)
    body = model((1, 1, 12), *((0, 0, z, 1) for z in range(12)))
    scene = b"".join(shape(node, 0) for node in range(1, 10))
    data = vox(body, group(0, *range(1, 10)), scene)
    refused(tmp_path, data, "together place 108 voxels, more than 100")
    monkeypatch.setattr("ecs_audio.world.vox_scene._MAX_PLACED", 8)
    refused(tmp_path, data, "its scene places more than 8 models")


def test_chunks_and_fields_are_bounded(tmp_path: Path) -> None:
    refused(tmp_path, vox(BODY, chunk("NOTE") * (2**20 + 1)), "more than 1048576 chunks")
    refused(tmp_path, vox(BODY, chunk("MATL", 1, 2**20, bytes(2**23))), "more than 1048576 fields")


def test_a_deep_scene_is_no_recursion(tmp_path: Path) -> None:
    deep = b"".join(transform(node, node + 1, t="1 0 0") for node in range(20_000))
    assert len(filled(load(tmp_path, vox(BODY, deep, shape(20_000, 0))))) == 1


def test_every_truncation_that_the_length_of_main_agrees_with_is_survived(tmp_path: Path) -> None:
    # A file may end after any chunk.
    path = tmp_path / "world.vox"
    for length in range(20, len(SMALL)):
        survive(path, SMALL[:16] + struct.pack("<I", length - 20) + SMALL[20:length])
