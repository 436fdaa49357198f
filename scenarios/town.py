"""A walk through a town, into a house and out again, with music that is streamed all the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import ecs_audio as ea
from ecs_audio.analysis import clicks, delay_between, level_db, peak_db
from scenarios import _sounds
from scenarios._crowd import parked
from scenarios._feet import Walk, check_feet, rehearsed
from scenarios._listener import EYES
from scenarios._mix import mix
from scenarios._site import Site, own_site, site_of
from scenarios._songs import played, song
from scenarios._visit import Visit, nears, open_air, visit

OUTDOORS, INDOORS = ("field", "street", "canyon"), ("room", "hall", "tunnel")
SOUNDTRACK, RADIO = 0.3, 0.5
"""Volumes of the music in the listener's ears, and of the same from a radio in the room."""
TAKEN = 1.5
"""How long the listener's room takes to be another one [s]."""
LEAST = 1.0
"""A shorter stay tells nothing: a gap between trees is no open place [s]."""
SOUND = 343.0
"""[m/s]"""
FADE = 0.005
"""How long a source that is taken away is still heard [s]."""
ASIDE = {"town": 0.25, "file": 0.75}
"""The listener is as near as that to the place on the way [m]; files have blocks to jump onto."""
PIECE = 0.5
"""The soundtrack is compared in pieces of that length [s]."""


class Stay(NamedTuple):
    """A time in one kind of place."""

    kinds: tuple[str, ...]
    """What it may be."""
    start: float
    """[s]"""
    end: float


def scenario(
    *,
    world: str | None = None,
    around: tuple[float, float, float] | None = None,
    radius: float = 256.0,
    cell_size: float | None = None,
    music: str | None = None,
    sounds: str | None = None,
    what: str = "all",
    acoustics: str = "full",
    seed: int = 0,
) -> ea.Scenario:
    """The listener walks along a street into a house, where a radio plays, rests, and runs back.

    world: a world file instead of the town; the way is found as in the raid. Where a body cannot walk it,
    an event at the start says why, and the listener is carried along it. It says, too, if no part of the way
    lies under the open sky. around, radius: only this part of the file. cell_size: of its cells, where the
    file is wrong; 1 m is needed. music: a file to stream instead of a built-in piece. sounds: a folder of
    recordings that take the place of built-in sounds. what: "all", "tones" for low ones in the place of all
    sounds, or "soundtrack" for that alone. acoustics: "off", "direct", "reflect" or "full".
    """
    if what not in ("all", "tones", "soundtrack"):
        raise ValueError(f'what must be "all", "tones" or "soundtrack", not {what!r}')
    site = own_site(seed) if world is None else site_of(world, around, radius, cell_size)
    planned = visit(site)
    aside = ASIDE["town" if world is None else "file"]
    rehearsal = rehearsed(site.world, planned.feet, planned.ends, planned.doors)
    complaint = rehearsal.complaint(aside)
    going = planned if complaint else planned._replace(feet=rehearsal.feet)
    walk = Walk(site.world, planned.feet, planned.ends)
    stays = _stays(site, going)
    told = "music"
    if complaint:
        told += f"; the listener is carried: {complaint}"
    if not any(stay.kinds == OUTDOORS for stay in stays):
        told += "; the whole way is overgrown or roofed"
    clips, names = _sounds.tones() if what == "tones" else _sounds.sounds(sounds)
    if music is None or what == "tones":
        music = str(song("tone" if what == "tones" else "music", seed))
    options = mix(100, None)
    spawns = []
    if what != "soundtrack":
        for role, where, start, end in (
            ("wind", None, 0.0, None),
            ("engines", parked(site), 0.0, None),
            ("sirens", site.heights[0], 0.0, None),
            ("steps", going.feet, 0.0, going.arrives),
            ("steps", going.feet, going.leaves, going.returns),
        ):
            own = {**options[role], "looping": True}
            spawns.append(ea.Spawn(names[role][0], where, at=start, until=end, options=own))
    return ea.Scenario(
        world=site.world,
        clips=clips,
        seconds=going.ends,
        listener=planned.pose,
        walker=None if complaint else walk.walker(lambda time: planned.pose(time).forward),
        spawns=spawns,
        events=[
            ea.Event(0.0, _start(music, site, what != "soundtrack"), told),
            *going.doors,
        ],
        settings=ea.Settings(acoustics=acoustics),
        seed=seed,
        facts={
            "music": music,
            "walk": walk,
            "aside": aside,
            "carried": complaint,
            "stays": stays,
            "sharp": [
                t for s in spawns if s.until is not None for t in (s.at + EYES / SOUND, s.until + FADE)
            ],
        },
    )


def check(heard: ea.Recording) -> None:
    """Sound is whole, places come in their order, the music is all there, and nothing clicks."""
    check_sound(heard)
    check_places(heard)
    check_starving(heard)
    check_walk(heard)
    check_stream(heard.again(what="soundtrack", acoustics="off"))
    check_clicks(heard.again(what="tones"))


def check_sound(heard: ea.Recording) -> None:
    """Finite, not silent, below the ceiling."""
    assert np.isfinite(heard.samples).all(), "the recording holds NaN or infinity"
    assert np.any(heard.samples), "the recording is silent"
    peak = peak_db(heard.samples)
    assert peak < -0.29, f"the peak is {peak:.2f} dBFS; the limiter's ceiling is -0.3"


def check_places(heard: ea.Recording) -> None:
    """The listener is outdoors, then indoors, then outdoors; a file may have no open sky."""
    stays = heard.scenario.facts["stays"]
    assert len(stays) == 3 or heard.parameters.get("world") is not None, (
        f"the walk through the built-in town has {len(stays)} stays; 3 are due"
    )
    for kinds, start, end in stays:
        places = [row["room"] for row in heard.rows if start <= row["time"] < end]
        assert places, f"from {start:.1f} to {end:.1f} s no tick was made"
        share = np.mean([place in kinds for place in places])
        assert share > 0.8, (
            f"from {start:.1f} to {end:.1f} s the place is a {', a '.join(sorted(set(places)))}; it should be"
            f" a {' or a '.join(kinds)} nearly all the time, not {share:.0%} of it"
        )


def check_walk(heard: ea.Recording) -> None:
    """The listener walks all the way; in a file where no body can, the scenario has said why."""
    facts = heard.scenario.facts
    if facts["carried"]:
        assert heard.parameters.get("world") is not None, f"in the built-in town {facts['carried']}"
    else:
        check_feet(facts["walk"], len(heard.rows), facts["aside"])


def check_starving(heard: ea.Recording) -> None:
    """No frame of a stream was late."""
    starved = max(row["starved_frames"] for row in heard.rows)
    assert starved == 0, f"streams were silent for {starved} frames, as their decoder was late; none is due"


def check_stream(heard: ea.Recording) -> None:
    """The soundtrack alone is its file, decoded in one go, over and over."""
    rate, seconds = heard.rate, len(heard.samples) / heard.rate
    mono = heard.samples.astype(np.float64).mean(axis=1) / SOUNDTRACK
    assert np.any(mono), "the soundtrack is not heard at all"
    file = played(heard.scenario.facts["music"], seconds, rate)
    late = round(delay_between(mono[: 2 * rate], file[: 2 * rate]))
    assert 0 <= late < 0.05 * rate, (
        f"the soundtrack begins {1000.0 * late / rate:.1f} ms late; at most 50 are due"
    )
    size = round(PIECE * rate)
    for start in range(0, len(file) - late - size + 1, size):
        want, got = file[start : start + size], mono[start + late : start + late + size]
        off = level_db(want - got) - level_db(file)
        assert off < -60.0, (
            f"from {(start + late) / rate:.2f} s on, for {PIECE:g} s, the soundtrack differs from its file by"
            f" {off:.1f} dB; less than -60 dB are due"
        )


def check_clicks(heard: ea.Recording) -> None:
    """None but within 6 ms of where footsteps are heard to begin, or end in the middle of their clip."""
    reasons = np.array(heard.scenario.facts["sharp"])
    for frame in clicks(heard.samples, heard.rate):
        time = frame / heard.rate
        apart = 1000.0 * float(np.abs(reasons - time).min(initial=np.inf))
        assert apart < 6.0, f"a click at {time:.4f} s; the nearest reason for one is {apart:.1f} ms away"


def _start(music: str, site: Site, radio: bool) -> Callable[[ea.Stage], None]:
    """Music in the listener's ears, and from a radio in the room."""
    (x, y, z), (dx, dz) = site.room.cell, site.room.side
    place = (x - dx + 0.5, y + 1.0, z - dz + 0.5)

    def act(stage: ea.Stage) -> None:
        stage.engine.stream(music, looping=True, volume=SOUNDTRACK, priority=9)
        if radio:
            stage.engine.stream(
                music, looping=True, volume=RADIO, priority=8, position=place, acoustics=True, reference=2.0
            )

    return act


def _stays(site: Site, going: Visit) -> list[Stay]:
    """Outdoors, indoors, outdoors; of the way, what lies under the open sky: a wood may be a room."""
    enters, left = nears(going, site.route[-1])
    under_way = [Stay(OUTDOORS, *open_air(site, going, *way)) for way in ((0.0, enters), (left, going.ends))]
    first, last = (Stay(kinds, start + TAKEN, end) for kinds, start, end in under_way)
    stays = [first, Stay(INDOORS, going.arrives + TAKEN, going.leaves), last]
    return [stay for stay in stays if stay.end - stay.start >= LEAST]
