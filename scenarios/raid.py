"""A raid on a town: a hundred sources, explosions that break walls, a listener who runs indoors."""

from __future__ import annotations

from math import log10

import numpy as np

import ecs_audio as ea
from ecs_audio.analysis import loudness_lufs, peak_db
from ecs_audio.components.probes import CLASSES
from scenarios import _sounds
from scenarios._attack import Attack, break_wall, guns, missiles
from scenarios._blast import LATER
from scenarios._budgets import check_budgets
from scenarios._clicks import edges, explain_clicks
from scenarios._crowd import crowd
from scenarios._feet import Walk, check_feet, rehearsed
from scenarios._mix import mix
from scenarios._site import own_site, site_of
from scenarios._story import doors, story

TICK_RATE = 60.0
"""[Hz]"""
LASTING = 0.81
"""Share of the sources that sound all the time; missiles, blasts, debris and shots make up the rest."""
MISSILES, SHOTS = 0.9, 14.0
"""A second, for a hundred sources."""
STRAY, SOON = 12.0, 0.2
"""How far from where [m], and when [s], it is expected a missile explodes at most."""
ASTRAY = 1.5
"""A listener on foot who is farther from the tour has lost its way [m]."""
GUNS = 0.1
"""Places that are shot from, for each source."""


def scenario(
    *,
    sources: int = 100,
    seconds: float = 20.0,
    seed: int = 0,
    world: str | None = None,
    around: tuple[float, float, float] | None = None,
    radius: float = 256.0,
    cell_size: float | None = None,
    sounds: str | None = None,
    only: str | None = None,
    tones: bool = False,
) -> ea.Scenario:
    """Drones, missiles, guns, sirens, voices, footsteps, engines, music and wind around a listener.

    The listener walks along a street, runs indoors, waits there until an explosion breaks a wall of the
    room, and looks around: on foot, or where a world does not let it, along the same way as if it were on
    rails. Missiles explode where they hit. A shorter raid is the beginning of a longer one.

    sources: how many sound at once, about. world: a world file instead of the town; the raid takes place
    on flat, dry ground near its middle, not on roofs. The listener's room is the nearest one within 50
    steps of there: roofed, walled on all sides within 8 m, with a wall of at most 3 m beyond which lies the
    open. A file without one gets a stone house, one without ground for that also a terrace of gravel, and a
    file less than 96 m wide, or one whose ground is in pieces, is set on a meadow. around, radius: only this
    part of the file. cell_size: of its cells, where the file is wrong; 1 m is needed. sounds: a folder of
    recordings that take the place of built-in sounds of their role. only: roles to be heard, by commas, for
    listening to them alone. tones: whether low tones take the place of all sounds, to listen for clicks.
    """
    if sources < 1:
        raise ValueError(f"sources must be at least 1, not {sources}")
    site = own_site(seed) if world is None else site_of(world, around, radius, cell_size)
    clips, names = _sounds.tones() if tones else _sounds.sounds(sounds)
    going, wall_at = story(site, seconds)
    heard = mix(sources, only)

    attack = Attack(site, going, names, heard, clips.rate)
    missiles(attack, MISSILES * sources / 100.0, seconds, _chance(seed, 1))
    guns(attack, max(1, round(GUNS * sources)), SHOTS * sources / 100.0, seconds, _chance(seed, 2))
    break_wall(attack, wall_at)

    opening = doors(site, going)
    carried = rehearsed(site.world, going.feet, going.arrives + 1.0, opening).complaint(ASTRAY)
    walk = Walk(site.world, going.feet, seconds)
    spawns = []
    for k, (role, where, pitch) in enumerate(crowd(site, going, round(LASTING * sources), _chance(seed, 3))):
        if role in heard:
            options = {**heard[role], "looping": True, "pitch": pitch}
            spawns.append(ea.Spawn(names[role][k % len(names[role])], where, options=options))
    if "steps" in heard:
        own = {**heard["steps"], "looping": True}
        spawns.append(ea.Spawn(names["steps"][0], going.feet, until=going.arrives, options=own))
    bangs = [(s.options["start_frame"] / clips.rate, s.position) for s in attack.shots]
    noted = {"blasts": attack.blasts, "debris": attack.bounces}
    booms = [(noted[role], LATER) for role in noted if role in heard]
    return ea.Scenario(
        world=site.world,
        clips=clips,
        seconds=seconds,
        tick_rate=TICK_RATE,
        listener=going.pose,
        walker=None if carried else walk.walker(lambda time: going.pose(time).forward),
        spawns=[*spawns, *attack.flights, *attack.shots],
        events=[*attack.events, *opening],
        settings=ea.Settings(max_sources=max(1024, 2 * sources)),
        seed=seed,
        facts={
            "sources": sources,
            "route": site.route,
            "room": site.room,
            "arrives": going.arrives,
            "open_street": world is None,
            "carried": carried,
            "walk": walk,
            "wall_at": wall_at,
            "due": attack.due,
            "blasts": attack.blasts,
            "bounces": attack.bounces,
            "holes": attack.holes,
            "sharp": [*edges([*spawns, *attack.flights], TICK_RATE), *([] if tones else bangs)],
            # When things that are noted make something sharp to be heard.
            "makes": [(attack.blasts, 0.0), *([] if tones else booms)],
        },
    )


def check(heard: ea.Recording) -> None:
    """Sound and budgets are whole, the mix is at its level, walls break, and the same happens again."""
    check_sound(heard)
    check_budgets(heard)
    check_rooms(heard)
    check_walk(heard)
    check_hits(heard)
    check_walls(heard)
    check_clicks(heard)
    check_again(heard)


def check_sound(heard: ea.Recording) -> None:
    """Finite, not silent, below the ceiling, -26 to -18 LUFS, with a limiter that has nothing to do.

    Fewer than a hundred sources may be softer, as their power is less.
    """
    assert np.isfinite(heard.samples).all(), "the recording holds NaN or infinity"
    assert np.any(heard.samples), "the recording is silent"
    peak = peak_db(heard.samples)
    assert peak < -0.3, f"the peak is {peak:.2f} dBFS; it must stay below -0.3"
    loudness = loudness_lufs(heard.samples, heard.rate)
    lowest = -26.0 + min(0.0, 10.0 * log10(heard.scenario.facts["sources"] / 100.0))
    assert lowest <= loudness <= -18.0, f"the raid has {loudness:.1f} LUFS; {lowest:.0f} to -18 are due"
    working = np.mean([row["limiter_gain"] < 1.0 for row in heard.rows])
    assert working <= 0.02, f"the limiter works in {100.0 * working:.1f} % of the ticks; 2 % at most are rare"


def check_rooms(heard: ea.Recording) -> None:
    """The listener is outdoors until it arrives, and indoors from then on. Other worlds may be overgrown."""
    arrives = heard.scenario.facts["arrives"]
    outdoors = {"field", "street", "canyon"} if heard.scenario.facts["open_street"] else set(CLASSES)
    for kinds, begin, end in (
        (outdoors, 1.0, arrives - 2.0),
        ({"room", "hall", "tunnel"}, arrives + 2.0, heard.scenario.seconds),
    ):
        rooms = [row["room"] for row in heard.rows if begin <= row["time"] < end]
        share = np.mean([room in kinds for room in rooms]) if rooms else 1.0
        assert share > 0.8, (
            f"between {begin:.1f} and {end:.1f} s the place is a {', a '.join(sorted(set(rooms)))};"
            f" it should be a {' or a '.join(sorted(kinds))} nearly all the time, not {share:.0%} of it"
        )


def check_walk(heard: ea.Recording) -> None:
    """A listener on foot has followed its way, and stands in the room in the end."""
    facts = heard.scenario.facts
    if not facts["carried"]:
        check_feet(facts["walk"], len(heard.rows), ASTRAY)


def check_hits(heard: ea.Recording) -> None:
    """Every missile has exploded, where and when it comes to the first thing in its way."""
    facts, over = heard.scenario.facts, heard.scenario.seconds - 0.2
    blasts, since = facts["blasts"].rows, facts["blasts"].since + SOON  # before, they may be forgotten
    for at, place in facts["due"]:
        near = np.linalg.norm(blasts[:, 1:] - place, axis=1) < STRAY
        off = np.abs(blasts[near, 0] - at).min(initial=np.inf)
        assert off <= SOON or at > over or at < since, (
            f"the missile due at {at:.2f} s should explode within {STRAY:g} m and {SOON:g} s of there;"
            f" the nearest blast is {off:.2f} s off"
        )


def check_walls(heard: ea.Recording) -> None:
    """Explosions have changed the world, the engine saw it, and the wall of the room is gone."""
    facts, over = heard.scenario.facts, heard.scenario.seconds - 0.1
    edited = np.array([row["time"] for row in heard.rows if row["edits"] > 0])
    for at in facts["holes"].rows[:, 0]:  # where others have broken all before, a blast edits nothing
        seen = np.any((edited >= at - 1e-6) & (edited < at + 0.05))
        assert seen or at > over, f"the engine has not taken in the edit of the blast at {at:.2f} s"
    holes = [(at, tuple(map(int, cell))) for at, *cell in facts["holes"].rows.tolist()]
    for at, cell in [*holes, *((facts["wall_at"], cell) for cell in facts["room"].wall)]:
        left = heard.scenario.world.material(cell)
        assert left == "air" or at > over, f"the blast at {at:.2f} s should have broken {cell}; it is {left}"


def check_clicks(heard: ea.Recording) -> None:
    """No jump but where a bang arrives, or a loop that begins in its middle, or where a source is taken away.

    Those do look like clicks. When each is heard follows from when and where it is made and where the
    listener is; echoes and reverbs of it are softer than their surroundings by then. Noise hides steps up to
    an amplitude of 0.1, and where a bang reverberates 0.5, so the raid is listened to a second time, in low
    tones without bangs: there a step of 0.0005 stands out. There so does a loop that fades in 5 ms because
    voices have run out; then once is enough.
    """
    explain_clicks(heard)
    most = heard.scenario.settings.max_voices
    if not any(row["voices_playing"] >= most or row["voices_stolen"] for row in heard.rows):
        explain_clicks(heard.again(tones=True))


def check_again(heard: ea.Recording) -> None:
    """Recorded again, the first 3 s have the same hash."""
    again = heard.again(seconds=min(3.0, heard.scenario.seconds))
    start = heard.samples[: len(again.samples)]
    first = ea.Recording(start, heard.rate, again.scenario, [], heard.make, heard.parameters)
    assert again.sha256 == first.sha256, (
        f"recorded again, the first {again.scenario.seconds:g} s have the hash {again.sha256},"
        f" not {first.sha256}"
    )


def _chance(seed: int, part: int) -> np.random.Generator:
    """Chance of its own for each part, so that one does not change another."""
    return np.random.Generator(np.random.PCG64([seed, part]))
