"""Four hundred requests for 64 voices: who plays, who waits in silence, who is refused, and no click."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
from numpy.typing import NDArray

import ecs_audio as ea
from ecs_audio.clips import burst, tone
from scenarios._turns import Request, Turns, turns_at

TICK_RATE = 60.0
"""[Hz]"""
ROUND, ASKING = 1.5, 50
"""Length of a round [s], and requests in it, one a tick from its start; in the rest of it nobody asks."""
LISTEN = 0.5
"""The end of each round, which is listened to [s]; each frequency makes whole turns in it."""
LOWEST, APART, HIGHEST = 800.0, 2.0, 1600.0
"""Frequency of the first request, from each to the next, and of the clips [Hz]: read no faster than they
were made, nothing folds."""
LEVEL = 0.012
"""Amplitude of each, so that the limiter stays out of it."""
EDGE = 0.02
"""How long a one-shot rises and falls [s]."""
ENDS, HUSHED = 0.9, 0.37
"""When in its round a short one ends, and when a loop falls silent [s]: half a second later it gives up its
voice, too, while nobody asks."""


def scenario(*, requests: int = 400, voices: int = 64, seed: int = 0) -> ea.Scenario:
    """One tone after the other asks for a voice, each at a frequency of its own, so that all can be told.

    Two in five are loops, of which some become inaudible; the others sound once, some of them shortly.
    requests: at most 400, as there are no more frequencies. voices: how many may sound at once.
    """
    if not 1 <= requests <= 400:
        raise ValueError(f"requests must be 1 to 400, not {requests}")
    wanted = _requests(requests, seed)
    rounds = -(-requests // ASKING)
    clips = ea.Clips()
    clips.add("loop", tone(HIGHEST, 1.0, clips.rate))
    clips.add("long", burst(HIGHEST, ROUND * rounds + 1.0, clips.rate, EDGE))
    spawns, events = [], []
    for k, request in enumerate(wanted):
        clip, pitch = "loop" if request.looping else "long", _frequency(k) / HIGHEST
        if request.ends < inf:
            clip, pitch = f"short {k}", 1.0
            clips.add(clip, burst(_frequency(k), request.ends - request.at, clips.rate, EDGE))
        options = {
            "volume": LEVEL, "pitch": pitch, "priority": request.priority, "looping": request.looping
        }  # fmt: skip
        spawns.append(ea.Spawn(clip, at=request.at, name=str(k), options=options))
        if request.hushed < inf:
            events.append(ea.Event(request.hushed, _hush(str(k)), f"{k} falls silent"))
    return ea.Scenario(
        world=ea.World.empty(size=(16, 16, 16)),
        clips=clips,
        seconds=ROUND * rounds,
        tick_rate=TICK_RATE,
        spawns=spawns,
        events=events,
        settings=ea.Settings(max_voices=voices),
        seed=seed,
        facts={"requests": wanted, "voices": voices, "rounds": rounds},
    )


def check(heard: ea.Recording) -> None:
    """At the end of each round those sound who should, the others are counted, and nothing ever clicks."""
    check_sound(heard)
    check_phase(heard)
    check_counts(heard)
    check_clicks(heard)


def check_sound(heard: ea.Recording) -> None:
    """Each frequency is there at its level, or 60 dB below it."""
    requests = heard.scenario.facts["requests"]
    for number in range(heard.scenario.facts["rounds"]):
        due, level = _due(heard, number), np.abs(_lines(heard, number)) / LEVEL
        for k, request in enumerate(requests):
            kind = "loop" if request.looping else "one-shot"
            low, high = (0.99, 1.01) if k in due.playing else (0.0, 0.001)
            assert low <= level[k] <= high, (
                f"at the end of round {number + 1} the {kind} {k} of priority {request.priority} sounds with"
                f" {level[k]:.4f} of its level; {low:g} to {high:g} are due"
            )


def check_phase(heard: ea.Recording) -> None:
    """Loops whose voice was taken and that play again are in phase with what they were before."""
    rounds = range(heard.scenario.facts["rounds"])
    lines, due = np.array([_lines(heard, k) for k in rounds]), [_due(heard, k) for k in rounds]
    robbed = set[int]().union(*(turns.back for turns in due))
    for k in robbed:
        there = [line for line, turns in zip(lines[:, k], due, strict=True) if k in turns.playing]
        # A round is a whole number of turns of every frequency.
        off = float(np.degrees(np.abs(np.angle(np.array(there) / there[0]))).max())
        assert off < 1.0, f"the loop {k} has come back {off:.1f}° out of phase; less than 1° is due"


def check_counts(heard: ea.Recording) -> None:
    """Who plays, waits, was refused or was stolen from is counted, at the last tick of each round."""
    for number in range(heard.scenario.facts["rounds"]):
        due = _due(heard, number)
        row = heard.rows[round(ROUND * (number + 1) * TICK_RATE) - 1]
        for name, count in (
            ("playing", len(due.playing)),
            ("virtual", len(due.waiting)),
            ("refused", due.refused),
            ("stolen", due.stolen),
        ):
            assert row[f"voices_{name}"] == count, (
                f"at the end of round {number + 1} the engine counts {row[f'voices_{name}']} {name};"
                f" {count} are due"
            )


def check_clicks(heard: ea.Recording) -> None:
    """Voices that are taken, that end and come back leave less than a tenth of a level above 8 kHz.

    All tones lie below 1.6 kHz; of one that is cut off, a third of where it stood is left up there.
    """
    edge = round(EDGE * heard.rate)
    for ear, x in enumerate(heard.samples.T.astype(np.float64)):
        x[-edge:] *= np.linspace(1.0, 0.0, edge)  # it is the recording that ends there
        spectrum = np.fft.rfft(x)
        spectrum[np.fft.rfftfreq(len(x), 1.0 / heard.rate) < 8000.0] = 0.0
        above = np.abs(np.fft.irfft(spectrum, len(x))) / LEVEL
        most = int(np.argmax(above))
        assert above[most] < 0.1, (
            f"a click at {most / heard.rate:.4f} s in ear {ear}: {above[most]:.2f} of a voice's level lie"
            " above 8 kHz; less than 0.1 is due"
        )


def _requests(count: int, seed: int) -> list[Request]:
    """Requests by chance; no two loops have the same priority, and one-shots often do."""
    chance = np.random.Generator(np.random.PCG64(seed))
    single = chance.permutation([p for p in range(1, 500) if p % 50])
    requests = []
    for k in range(count):
        number, turn = divmod(k, ASKING)
        at, kind = ROUND * number + turn / TICK_RATE, chance.uniform()
        later = number + int(chance.integers(1, 4))
        if kind < 0.4:
            hushed = ROUND * later + HUSHED if kind < 0.1 else inf
            requests.append(Request(at, int(single[k]), True, hushed=hushed))
        else:
            # Short ones matter more, so that they take voices and give them back.
            ends, low = (ROUND * number + ENDS, 4) if kind < 0.65 else (inf, 0)
            requests.append(Request(at, 50 * int(chance.integers(low, 11)), False, ends=ends))
    return requests


def _due(heard: ea.Recording, number: int) -> Turns:
    """Who should play where a round ends."""
    facts = heard.scenario.facts
    return turns_at(facts["requests"], facts["voices"], ROUND * (number + 1) - 1.0 / TICK_RATE)


def _lines(heard: ea.Recording, number: int) -> NDArray[np.complex128]:
    """Amplitude and phase of each request's frequency where a round ends, (requests,)."""
    end = round(ROUND * (number + 1) * heard.rate)
    x = heard.samples[end - round(LISTEN * heard.rate) : end].astype(np.float64).mean(axis=1)
    spectrum = 2.0 / len(x) * np.fft.rfft(x)
    at = [round(_frequency(k) * LISTEN) for k in range(len(heard.scenario.facts["requests"]))]
    return np.asarray(spectrum[at] / 10.0 ** (-1.0 / 20.0))  # the built-in tones are at -1 dB


def _frequency(request: int) -> float:
    return LOWEST + APART * request


def _hush(name: str) -> Callable[[ea.Stage], None]:
    def act(stage: ea.Stage) -> None:
        source = stage.sources[name]
        if source.alive:
            stage.engine.sources.volume[source] = 0.0

    return act
