"""An explanation for people: sections of names and values, and tables of paths and echoes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ecs_audio.cli import show

Rows = list[tuple[str, str]]


def show_explained(e: dict[str, Any]) -> None:
    """Print what `ecs_audio.explain` says of a source."""
    source = e["source"]
    name = f"Source {source['number']}, {source['clip'] or 'a clip without a name'}"
    for title, rows in (
        (f"{name}, at {e['time']:.3f} s", _source(e)),
        ("Level", _level(e)),
        ("Muffling", _muffling(e)),
        ("Reflections", _reflections(e)),
        ("Voice", _voice(e)),
        ("Room around the listener", _room(e)),
    ):
        show.text()
        show.text(title)
        show.pairs(rows)
    if e["bundle"]["paths"]:
        show.text()
        show.text("Direct paths, from the listener on")
        show.table(("path", "weight", "engine", "walked", "what is between"), _paths(e), right=(0, 1, 2, 3))
    if e["echoes"]:
        show.text()
        show.text("Echoes")
        header = ("mirrors", "from", "metres", "delay", "level", "gain_hf", "lane")
        show.table(header, _echoes(e), right=(2, 3, 4, 5, 6))


def decibels(gain: float) -> str:
    """A linear amplitude as a level."""
    return f"{20.0 * math.log10(gain):.1f} dB" if gain > 0.0 else "silence"


def _source(e: dict[str, Any]) -> Rows:
    tier, turn, ages, p = e["tier"], e["turn"], e["ages"], e["places"]
    rays, cells = (f"{turn[n]:,} of {turn[f'max_{n}']:,} {n}" for n in ("rays", "cells"))
    emitted = "at once" if p["delay"] is None else f"{p['delay']:.4f} s ago"
    apart, pull = f"{p['apart_degrees']:.1f}° off the true one", f"{100 * p['pull']:.0f} %"
    return [
        ("tier", f"{tier['tier'].upper()}: {tier['why']}"),
        ("turn", f"{turn['why']}; {turn['owed_paths']} paths owed"),
        ("budget", f"{rays}, {cells}; {turn['deferred']} of {turn['queue']} turns put off at this tick"),
        ("traced", ", ".join(f"{name} {_ago(age)}" for name, age in ages.items())),
        ("position", f"{_place(p['position'])}, heard from {_place(p['heard_position'])}, emitted {emitted}"),
        ("direction", _bearing(p["direction"])),
        ("seems to be", f"{_place(p['apparent_position'])}, {_bearing(p['apparent_direction'])}"),
        ("", f"{apart}; reflections decide {pull}"),
    ]


def _level(e: dict[str, Any]) -> Rows:
    v = e["level"]
    gain = "nothing" if v["distance_gain"] is None else decibels(v["distance_gain"])
    law = f"law {v['law']}, reference {v['reference']:g} m, fading from {v['fade_start']:g} to {v['end']:g} m"
    return [
        ("distance", f"{v['distance']:.2f} m: {gain}; {law}"),
        ("loudness", f"{decibels(v['loudness'])} before occlusion, with a volume of {v['volume']:g}"),
        ("in the mix", f"{decibels(v['audibility'])}, with {decibels(v['category_gain'])} for its category"),
    ]


def _muffling(e: dict[str, Any]) -> Rows:
    m, bundle = e["muffling"], e["bundle"]
    return [
        ("T", f"{m['transmission']:.4g} of the bundle as traced; walked now {bundle['walked']:.4g}"),
        ("shared air", f"leaves at least {m['shared_air']:.4g}; {m['decided_by']} decides: {m['heard']:.4g}"),
        ("gain", f"{m['heard']:.4g}^0.1 = {_target(m, 'gain')}"),
        ("gain_hf", f"{m['heard']:.4g} × air {m['air']:.4f}{_water(m)} = {_target(m, 'gain_hf')}"),
        ("at the ears", f"gain_hf {m['gain_hf_at_the_ears']:.4g}, of which the head leaves {m['head']:.3f}"),
    ]


def _water(m: dict[str, Any]) -> str:
    return f" × water {m['water']:g}" if m["water"] != 1.0 else ""


def _target(m: dict[str, Any], name: str) -> str:
    return f"{m[f'expected_{name}']:.4g}; target {m[f'{name}_target']:.4g}, eased {m[name]:.4g}"


def _reflections(e: dict[str, Any]) -> Rows:
    r, entry = e["reflections"], e["reflections"]["entry"]
    share = "not traced" if r["coupling"] is None else f"{100 * r['coupling']:.1f} %"
    if entry is not None:
        share += f": {entry['seen_by_the_listener']} of {entry['hits']} hits see the listener"
    waits = [("waits for", f"a survey that is {r['waits_for']}")] if r["waits_for"] else []
    sends = [(f"{name} send", _send(name, send)) for name, send in e["sends"].items()]
    return [("coupling", share), ("", r["from"]), *waits, *sends]


def _send(name: str, s: dict[str, Any]) -> str:
    if s["room_gain"] == 0.0:
        return f"none: there is no {name} room"
    whole = f"{decibels(s['target'])} into a room of {s['room_gain']:.3f}, gain_hf {s['gain_hf_target']:.4g}:"
    shared = f"{decibels(s['coupled'])} by shared air {s['openness']:.3f}"
    return f"{whole} {shared}, {decibels(s['sealed'])} as it is heard"


def _voice(e: dict[str, Any]) -> Rows:
    v = e["voice"]
    lane = "no lane" if v["lane"] is None else f"lane {v['lane']}, {v['lane_state']}, fade {v['fade']:.2f}"
    return [
        ("state", f"{v['state']}{', paused' if v['paused'] else ''}; {lane}; priority {v['priority']}"),
        ("clip", f"at {v['clip_seconds']:.3f} s, pitch {v['pitch']:g}, {v['pace']:.4f} with Doppler"),
        ("left, right", f"{decibels(v['left'])}, {decibels(v['right'])}"),
        ("reverbs", f"near {decibels(v['near_reverb'])}, far {decibels(v['far_reverb'])}"),
    ]


def _room(e: dict[str, Any]) -> Rows:
    room = e["room"]
    shares = [f"{name} {100 * weight:.0f} %" for name, weight in room["classes"].items() if weight >= 0.005]
    rows = [("class", room["preset"] or ", ".join(shares) or "nothing found yet")]
    for name in ("near", "far"):
        bus = room[name]
        if bus["room_gain"] == 0.0:
            rows.append((name, "none"))
            continue
        times = ", ".join(f"{time:.2f}" for time in bus["rt60"].values())
        rows.append((name, f"level {bus['room_gain']:.3f}, RT60 {times} s at {', '.join(bus['rt60'])} Hz,"))
        rows.append(("", f"{bus['mean_free_path']:.1f} m between walls, {100 * bus['share']:.0f} % of rays"))
    return rows


def _paths(e: dict[str, Any]) -> list[Sequence[str]]:
    return [
        (str(p["path"]), f"{p['weight']:.3f}", f"{p['engine']:.4g}", f"{p['walked']:.4g}", _between(p))
        for p in e["bundle"]["paths"]
    ]


def _between(path: dict[str, Any]) -> str:
    if path["note"]:
        return str(path["note"])
    pieces = [
        f"{p['block']} {p['metres']:.2f} m" + (f" ({p['left_out']})" if p["left_out"] else "")
        for p in path["crossed"]
    ]
    if path["unknown_metres"] > 0.0:
        pieces.append(f"not loaded {path['unknown_metres']:.2f} m")
    return ", ".join(pieces or ["nothing"]) + (
        " and more, which does not count" if path["is_cut_short"] else ""
    )


def _echoes(e: dict[str, Any]) -> list[Sequence[str]]:
    return [
        (
            ("rough " if echo["is_rough_ground"] else "")
            + ", then ".join(f"{m['block']} {m['axis']} = {m['coordinate']:g}" for m in echo["mirrors"]),
            _bearing(echo["direction"]),
            f"{echo['metres']:.2f}",
            f"{1000.0 * echo['delay']:.2f} ms",
            decibels(echo["gain"]),
            f"{echo['gain_hf']:.3f}",
            "" if echo["lane"] is None else str(echo["lane"]),
        )
        for echo in e["echoes"]
    ]


def _place(position: list[float]) -> str:
    return "({})".format(", ".join(f"{p:.2f}" for p in position))


def _bearing(direction: dict[str, float]) -> str:
    side = "right" if direction["azimuth"] >= 0.0 else "left"
    return f"{abs(direction['azimuth']):.1f}° {side}, {direction['elevation']:+.1f}° up"


def _ago(age: float | None) -> str:
    return "never" if age is None else f"{age:.2f} s ago"
