"""The reverb against room acoustics: decay, energy, density, stillness; and against its naive twin."""

from __future__ import annotations

import naive_reverb as naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import signal

from ecs_audio.components import buses as layout
from ecs_audio.components.buses import Bus, Buses
from ecs_audio.kernels import hadamard, losses, reverb
from ecs_audio.kernels.losses import solve_losses
from ecs_audio.kernels.reverb import reverberate
from ecs_audio.presets import PRESETS, preset

RATE = 48_000
FLAT = [[t] * 4 for t in (0.2, 0.3, 1.0, 3.0, 8.0)]
DOUBLE = [[2, 1, 2, 1], [1, 2, 1, 2], [0.3, 0.6, 0.3, 0.6], [8, 4, 2, 1], [2.4, 1.86, 1.24, 0.63]]
FOURFOLD = [[1, 4, 1, 4], [4, 1, 4, 1], [5, 5, 3, 0.75], [0.2, 0.8, 0.2, 0.8], [0.8, 0.2, 0.8, 0.2]]
SCALES = ("near", "far")
TIMES = st.lists(st.floats(0.05, 20.0), min_size=4, max_size=4)


def bus_of(scale, rt60, rate=RATE, pre_delay=0):
    bus = getattr(Buses(rate), scale)
    aim(bus, rt60)
    bus.clock[layout.WANTED] = pre_delay
    return bus


def aim(bus, rt60):
    solve_losses(
        float(bus.rate), np.broadcast_to(np.asarray(rt60, float), 4).copy(), bus.length, bus.guess, bus.target
    )


def render(bus, sent, ramp=0, call=32):
    """What a bus adds to silence, (frames, 2), in calls of so many quanta."""
    quanta = -(-len(sent) // 64)
    padded, out = np.zeros(64 * quanta, np.float32), np.zeros((64 * quanta, 2), np.float32)
    padded[: len(sent)] = sent
    for q in range(0, quanta, call):
        part = slice(64 * q, 64 * (q + call))
        reverberate(min(call, quanta - q), ramp - 64 * q, padded[part], *arrays(bus), out[part])
    return out


def arrays(bus):
    return bus.length, bus.rings, bus.memory, bus.now, bus.target, bus.clock, bus.scratch


def impulse(bus, seconds):
    return render(bus, np.eye(1, round(seconds * bus.rate))[0]).astype(float)


def octave(x, frequency, rate=RATE, part=1.0):
    """A band, filtered backwards so that the filter's own ringing comes before what it rings from."""
    edges = [frequency * 2 ** (-part / 2), min(frequency * 2 ** (part / 2), 0.495 * rate)]
    return signal.sosfilt(signal.butter(4, edges, "band", fs=rate, output="sos"), x[::-1], axis=0)[::-1]


def t30(x, rate=RATE):
    """Schroeder's backward integral, a line from -5 to -35 dB."""
    left = np.cumsum((x**2).sum(axis=1)[::-1])[::-1]
    db = 10 * np.log10(left / left[0] + 1e-30)
    part = (db <= -5) & (db >= -35)
    return -60 / np.polyfit(np.nonzero(part)[0] / rate, db[part], 1)[0]


def correlation(x):
    return abs((x[:, 0] @ x[:, 1]) / np.sqrt((x[:, 0] @ x[:, 0]) * (x[:, 1] @ x[:, 1])))


def energy(x, frequency):
    """In an octave, relative to that of an impulse."""
    one = np.zeros((RATE, 1))
    one[RATE // 2] = 1.0
    return (octave(x, frequency) ** 2).sum() / (octave(one, frequency) ** 2).sum()


def held(bus):
    """Energy of the samples that are on their way through the lines."""
    at = bus.clock[layout.PLACE]
    rings = np.roll(bus.rings[:8, :-64].astype(float), -at, axis=1)
    return sum((ring[-int(n) :] ** 2).sum() for ring, n in zip(rings, bus.length[:8], strict=True))


def clean(*values):
    """No NaN, no infinity, no denormal."""
    return all(
        np.isfinite(a).all() and not ((a != 0) & (np.abs(a) < np.finfo(np.float32).tiny)).any()
        for a in values
    )


def noise(frames, seed=0):
    return (np.random.default_rng(seed).standard_normal(frames) * 0.2).astype(np.float32)


def seeing(bus):
    return [getattr(bus, name).copy() for name in ("rings", "memory", "scratch")]


# The losses.


def solved(rate, rt60, guess=0.0):
    length = bus_of("far", 1.0, rate).length
    out, guess = np.zeros(128, np.float32), np.full((8, 4), guess)
    solve_losses(float(rate), np.asarray(rt60, float), length, guess, out)
    return out.reshape(16, 8)[:15], guess, length[:8]


@given(
    st.floats(0.3, 12.0),
    st.lists(st.floats(0.25, 4.0), min_size=3, max_size=3),
    st.sampled_from([44_100, RATE]),
)
def test_each_line_loses_sixty_decibels_in_its_time_in_all_four_bands(first, ratios, rate):
    rt60 = first * np.cumprod([1.0, *ratios])
    rt60 = np.clip(naive.limited(rt60), 0.3, 15.0)
    rows, _, length = solved(rate, rt60)
    wanted = -60 * length / (rt60[:, None] * rate)
    found = 20 * np.log10(abs(naive.response(rows, np.exp(-2j * np.pi * naive.BANDS / rate))))
    assert abs(found - wanted).max() < 0.005


@given(TIMES, st.sampled_from([0.0, 37.0, -61.0, np.inf]))
def test_the_filters_are_the_cookbooks_whatever_the_guess(rt60, guess):
    rows, found, _ = solved(RATE, rt60, guess)
    again, _, _ = solved(RATE, rt60)
    np.testing.assert_allclose(rows, again, rtol=3e-4, atol=1e-7)
    for line in range(8):
        for k, corner in enumerate(naive.CORNERS):
            b0, b1, b2, a1, a2 = naive.shelf(found[line, k], corner, RATE)
            ours = rows[5 * k : 5 * k + 5, line]
            scale = 1.0 if k else ours[0] / b0
            np.testing.assert_allclose(
                ours, [scale * b0, scale * b1, scale * b2, a1, a2], rtol=1e-5, atol=1e-7
            )


def test_of_neighbours_more_than_four_to_one_apart_the_shorter_is_lengthened():
    for rt60 in ([2.0, 2.0, 2.0, 0.1], [0.3, 8.0, 8.0, 8.0], [0.4, 0.4, 8.0, 0.4]):
        np.testing.assert_array_equal(solved(RATE, rt60)[0], solved(RATE, naive.limited(rt60))[0])


@given(
    st.lists(st.floats(0.0, 1e3) | st.sampled_from([np.nan, np.inf, -1.0]), min_size=4, max_size=4),
    st.sampled_from([1, 100, 1000, 8000, 11_025, 16_000, 22_050, 44_100, RATE, 96_000, 192_000]),
)
def test_no_line_amplifies_any_frequency_whatever_it_is_asked_for(rt60, rate):
    rows, guess, _ = solved(rate, rt60)
    assert np.isfinite(rows).all()
    assert np.isfinite(guess).all()
    for k in range(3):
        a1, a2 = rows[5 * k + 3].astype(float), rows[5 * k + 4].astype(float)
        assert (abs(a2) < 1).all()
        assert (abs(a1) < 1 + a2).all()
    frequencies = np.append(0.0, np.geomspace(rate / 1e5, rate / 2, 400))
    assert abs(naive.response(rows, np.exp(-2j * np.pi * frequencies / rate))).max() < 1.0


# What a room does.


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("rt60", FLAT + DOUBLE + FOURFOLD, ids=str)
def test_a_tail_falls_by_sixty_decibels_in_its_time_and_carries_its_energy(scale, rt60):
    response = impulse(bus_of(scale, rt60), 0.9 * max(rt60) + 0.3)
    tolerance = 0.15 if rt60 in FOURFOLD or min(rt60) < 0.3 else 0.1
    for band, wanted in zip(naive.BANDS, rt60, strict=True):
        assert t30(octave(response, band)) == pytest.approx(wanted, rel=tolerance), band
    level = 10 * np.log10((energy(response, 500.0) + energy(response, 2000.0)) / 2)
    assert abs(level) < 0.5
    assert correlation(response) < 0.3
    for frequency in (250, 500, 1000, 2000, 4000, 8000):
        assert correlation(octave(response, frequency)) < 0.3, frequency


@pytest.mark.parametrize("rt60", [[1.0] * 4, *DOUBLE, [4, 4, 2.5, 0.9], [3, 1, 1, 3]], ids=str)
@pytest.mark.parametrize("scale", SCALES)
def test_third_octaves_lie_between_their_bands(scale, rt60):
    response = impulse(bus_of(scale, rt60), 0.9 * max(rt60) + 0.3)
    for frequency in 1000 * 2.0 ** (np.arange(-9, 10) / 3):
        wanted = np.exp(np.interp(np.log(frequency), np.log(naive.BANDS), np.log(rt60)))
        assert t30(octave(response, frequency, part=1 / 3)) == pytest.approx(wanted, rel=0.2), frequency


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("ear", [0, 1])
def test_echoes_are_as_dense_as_noise_within_sixty_milliseconds(scale, ear):
    times, density = naive.echo_density(impulse(bus_of(scale, 1.0), 0.3)[:, ear], RATE)
    assert density[times <= 0.06].max() > 0.9
    assert density[(times >= 0.06) & (times < 0.15)].mean() > 0.9  # noise itself is 1 +- 0.06 in a window


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("rate", [8000, 16_000, 44_100, 96_000, 192_000])
def test_a_tail_lasts_as_long_at_any_rate(scale, rate):
    response = impulse(bus_of(scale, 1.0, rate), 1.3)
    for band in (125.0, 500.0, 2000.0):
        assert t30(octave(response, band, rate), rate) == pytest.approx(1.0, rel=0.1), band


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("ramp", [64, 1, 448, 800, 3200])
def test_what_the_lines_hold_never_grows_whatever_the_room_does(scale, ramp):
    rng = np.random.default_rng(ramp)
    bus = bus_of(scale, rng.uniform(0.2, 8.0, 4))
    render(bus, noise(RATE // 4))
    nothing, out, left, before = np.zeros(64, np.float32), np.zeros((64, 2), np.float32), 0, np.inf
    for quantum in range(600):
        if left <= 0:
            aim(bus, np.exp(rng.uniform(np.log(0.05), np.log(20.0), 4)))
            left = ramp
        reverberate(1, left, nothing, *arrays(bus), out)
        left -= 64
        if quantum > 60 and before > 1e-12:  # the pre-delay and the all-passes are empty
            assert held(bus) <= before * (1 + 1e-5)
        before = held(bus)


# Changes.


def changed(scale, sent, old, new, moment, ticks=1):
    """A rendering during which RT60 [s] and pre-delay [frames] change, the RT60 by equal factors in time."""
    bus = bus_of(scale, old[0], pre_delay=old[1])
    parts = [render(bus, sent[:moment])]
    bus.clock[layout.WANTED] = new[1]
    for tick in range(ticks):
        aim(bus, old[0] * (new[0] / old[0]) ** ((tick + 1) / ticks))
        parts.append(render(bus, sent[moment : moment + 832], ramp=832))
        moment += 832
    return np.concatenate([*parts, render(bus, sent[moment:])]).astype(float)


def largest_step(x):
    return abs(np.diff(x, axis=0)).max()


def tone(frequency):
    return (0.3 * np.sin(2 * np.pi * frequency * np.arange(2 * RATE) / RATE)).astype(np.float32)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", [131, 997, 3001, "noise"])
@pytest.mark.parametrize(("old", "new"), [(0.5, 1.0), (1.5, 0.75), (0.3, 1.5)])
def test_a_change_of_the_reverberation_time_does_not_click(scale, kind, old, new):
    """Within a second, as rooms do, or at once: then a tone may meet its longer tail in phase for a while."""
    sent, old, new = noise(2 * RATE) if kind == "noise" else tone(kind), (old, 480), (new, 480)
    for moment in (64 * 50, 64 * 391):
        steady = max(largest_step(changed(scale, sent, same, same, moment)) for same in (old, new))
        limit = 1.02 if kind != "noise" else 1.05  # the largest of 200000 random steps
        assert largest_step(changed(scale, sent, old, new, moment, ticks=60)) <= limit * steady
        assert largest_step(changed(scale, sent, old, new, moment)) <= 1.2 * steady


def test_a_change_of_the_pre_delay_does_not_click():
    """Before the network: in it, what goes in with a new phase meets what still rings with the old one."""
    for sent in (tone(131)[:24_000], tone(997)[:24_000], noise(24_000)):
        for wanted in (524, 600, 1700):
            bus, out = bus_of("near", 1.0, pre_delay=500), []
            for q in range(len(sent) // 64):
                bus.clock[layout.WANTED] = 500 if q < 100 else wanted
                bus.scratch[reverb.SENT : reverb.SENT + 64] = sent[64 * q : 64 * (q + 1)]
                reverb.delay(bus.rings, bus.clock, bus.scratch)
                reverb.turn(bus.rings, bus.clock)
                out.append(bus.scratch[reverb.SENT : reverb.SENT + 64].copy())
            out = np.concatenate(out)
            assert largest_step(out) <= 1.02 * largest_step(sent)
            at = 6400 + 1024 + 64
            np.testing.assert_allclose(out[at:], sent[at - wanted : len(out) - wanted], atol=1e-10)


@pytest.mark.parametrize("scale", SCALES)
def test_a_change_leaves_nothing_above_a_tone(scale):
    high = signal.butter(8, 3000, "high", fs=RATE, output="sos")
    for new in ((1.0, 524), (1.0, 600), (1.0, 1700), (0.5, 500), (2.0, 500)):
        for moment in (64 * 391, 64 * 500):
            x = changed(scale, tone(997)[:RATE], (1.0, 500), new, moment)
            assert abs(signal.sosfilt(high, x, axis=0)[moment:]).max() < 10 ** (-60 / 20) * abs(x).max()


# The twin.


@pytest.mark.parametrize("scale", SCALES)
def test_the_reverb_equals_the_inverted_network(scale):
    bus = bus_of(scale, [0.3, 0.4, 0.35, 0.2], pre_delay=301)
    ours = impulse(bus, 65_536 / RATE)
    rows = bus.target.reshape(16, 8).astype(float)
    twin = naive.impulse_response(rows[:15], rows[15], bus.length, 65_536, pre_delay=301)
    assert abs(ours - twin).max() < 2e-5 * abs(twin).max()


def test_a_moving_reverb_equals_its_twin():
    bus, sent, frames, ramp = bus_of("near", [0.4, 0.3, 0.5, 0.6], pre_delay=250), noise(3840), 3840, 832
    ours = render(bus, sent[:1280])
    start = bus.now.copy().astype(float)
    aim(bus, [0.5, 0.3, 0.4, 0.5])
    bus.clock[layout.WANTED] = 1000
    ours = np.concatenate([ours, render(bus, sent[1280:], ramp)])
    share = np.clip((np.arange(frames) - 1280 + 1) / ramp, 0, 1)
    coefficients = (start + share[:, None] * (bus.target.astype(float) - start)).reshape(frames, 16, 8)
    fade = np.clip(1 - (np.arange(frames) - 1280) / 1024, 0, 1)
    pre_delay = [((250, w), (1000, 1 - w)) for w in fade]
    twin = naive.render(sent.astype(float), bus.length, coefficients, pre_delay)
    # Sums of 64 steps in float32 are 1e-6 off, of which a pole at 250 Hz makes a hundredfold.
    assert abs(ours - twin).max() < 2e-4 * abs(twin).max()


# Calls, sleep, closing.


def test_bytes_do_not_depend_on_how_quanta_are_grouped_into_calls():
    def whole(call):
        bus = bus_of("far", 0.8, pre_delay=777)
        first = render(bus, noise(64 * 40), call=call)
        aim(bus, [0.4, 1.0, 2.0, 1.0])
        bus.clock[layout.WANTED] = 900
        bus.close()
        second = render(bus, noise(64 * 40, 1), ramp=800, call=call)
        return np.concatenate([first, second]).tobytes(), bus.rings.tobytes(), bus.now.tobytes()

    assert whole(1) == whole(7) == whole(32)


def test_a_ramp_ends_at_its_target():
    bus = bus_of("near", 1.0)
    render(bus, noise(640))
    aim(bus, 2.0)
    start = bus.now.copy()
    render(bus, noise(768), ramp=800)
    np.testing.assert_allclose(
        bus.now, start + (bus.target - start) * np.float32(768 / 800), rtol=1e-5, atol=1e-7
    )
    render(bus, noise(64), ramp=32)
    np.testing.assert_array_equal(bus.now, bus.target)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("rt60", [0.1, 0.4, 1.0, [0.2, 0.8, 0.2, 0.05]], ids=str)
def test_ten_seconds_after_an_impulse_there_is_nothing_left(scale, rt60):
    bus = bus_of(scale, rt60, pre_delay=1000)
    sent = np.eye(1, 64)[0]
    for _ in range(160):
        render(bus, sent, call=1)
        assert clean(bus.rings, bus.memory, bus.now)
        sent = np.zeros(960)
    render(bus, np.zeros(10 * RATE - 160 * 960))
    assert not bus.awake
    assert all(not a.any() for a in seeing(bus))


def test_a_sleeping_bus_costs_nothing_and_stays_clean():
    bus = bus_of("near", 1.0)
    before = seeing(bus)
    out = np.full((640, 2), 0.25, np.float32)
    assert reverberate(10, 0, np.zeros(640, np.float32), *arrays(bus), out) == 0
    assert (out == 0.25).all()
    assert all((a == b).all() for a, b in zip(before, seeing(bus), strict=True))


def test_who_wakes_from_sleep_is_as_new():
    used, new = bus_of("near", 0.2), bus_of("near", 0.7, pre_delay=400)
    render(used, noise(6400))
    render(used, np.zeros(3 * RATE))
    assert not used.awake
    used.guess[:] = 0.0
    aim(used, 0.7)
    used.clock[layout.WANTED] = 400
    assert render(used, noise(6400, 1), ramp=800).tobytes() == render(new, noise(6400, 1), ramp=800).tobytes()
    assert used.awake


def test_a_tail_is_not_cut_off_by_sleep():
    bus = bus_of("far", 3.0, pre_delay=1900)
    response = impulse(bus, 6.0)
    db = 10 * np.log10((response**2).reshape(60, -1).sum(axis=1) + 1e-30)
    assert db[-1] > -140.0
    assert (np.diff(db[2:]) > -4.0).all()


def test_what_is_sent_just_before_falling_asleep_is_heard():
    bus = bus_of("near", 0.1, pre_delay=1900)
    for silence in range(0, RATE, 64 * 5):
        render(bus, np.eye(1, 64)[0])
        render(bus, np.zeros(silence))
        assert (render(bus, np.eye(1, 6400)[0]) ** 2).sum() > 0.1


def test_whispers_below_three_hundred_decibels_do_not_wake():
    bus = bus_of("near", 1.0)
    assert not render(bus, np.full(640, 1e-17)).any()
    assert not bus.awake


def test_a_nan_is_over_when_it_has_passed():
    bus = bus_of("near", 1.0)
    render(bus, np.full(64, np.nan))
    render(bus, np.zeros(RATE))
    assert not bus.awake
    assert clean(*seeing(bus))


def test_a_closing_bus_is_silent_within_ten_milliseconds_and_then_as_new():
    bus, free = bus_of("near", 2.0), bus_of("near", 2.0)
    for b in (bus, free):
        render(b, noise(6400))
    bus.close()
    closing, going_on = render(bus, noise(512, 1)), render(free, noise(512, 1))
    fade = np.clip(1 - np.arange(512) / 480, 0, 1)[:, None]
    np.testing.assert_allclose(closing, going_on * fade, rtol=1e-5, atol=1e-9)
    assert not bus.awake
    assert not any(a.any() for a in seeing(bus))
    rise = np.clip(np.arange(6400) / 480 - 5, 0, 1).astype(np.float32)  # 50 ms later
    again, new = render(bus, noise(6400, 2)), render(bus_of("near", 2.0), noise(6400, 2) * rise)
    np.testing.assert_allclose(again, new, rtol=1e-5, atol=1e-9)
    render(bus, np.zeros(40 * RATE))
    assert not bus.awake
    assert render(bus, noise(640, 2)).tobytes() == render(bus_of("near", 2.0), noise(640, 2)).tobytes()


def test_an_empty_bus_has_nothing_to_close():
    bus = bus_of("near", 1.0)
    bus.close()
    assert render(bus, noise(6400)).any()


# The bus.


@pytest.mark.parametrize("rate", [1, 1000, 8000, 44_100, RATE, 192_000])
def test_lines_are_prime_and_longer_than_a_quantum(rate):
    for bus in Buses(rate).both:
        assert len(set(bus.length)) == 12 or len(set(bus.length[:8])) == 8
        assert (bus.length > 64).all()
        assert all(n % k for n in bus.length for k in range(2, int(n**0.5) + 1))
        assert bus.rings.shape[1] - 128 >= max(bus.length.max(), 0.04 * rate)


def test_lines_go_by_equal_factors_from_the_shortest_to_the_longest():
    for bus, longest in zip(Buses(RATE).both, (0.04, 0.08), strict=True):
        found = np.sort(bus.length[:8]) / RATE
        np.testing.assert_allclose(found, 0.007 * (longest / 0.007) ** (np.arange(8) / 7), rtol=0.02)


@pytest.mark.parametrize("rate", [0, -48_000, 44_100.5, 192_001, float("nan"), float("inf"), True, "48000"])
def test_a_bus_refuses_a_bad_rate(rate):
    with pytest.raises(ValueError, match="rate"):
        Bus(rate, 0.007, 0.04)


def test_a_pre_delay_is_held_within_five_and_forty_milliseconds():
    bus = Buses(RATE).near
    for seconds, frames in ((0.0, 240), (0.02, 960), (1.0, 1920), (float("nan"), 240)):
        bus.delay(seconds)
        assert bus.clock[layout.WANTED] == frames


def test_components_and_kernels_agree_on_the_layout():
    names = [n for n in dir(layout) if n.isupper() and n != "COEFFICIENTS" and hasattr(hadamard, n)]
    assert {"WANTED", "AWAKE", "CLOSING", "PLACE", "QUANTUM", "LINES"} <= set(names)
    assert all(getattr(layout, n) == getattr(hadamard, n) for n in names)
    assert layout.COEFFICIENTS == hadamard.ROWS == losses.ENERGY + 1
    assert layout.PRE_DELAY == reverb.PRE_DELAY
    assert hadamard.FACTOR == 8 * losses.ENERGY


# Presets.


def test_a_wooden_room_rings_as_long_as_eyring_says():
    room = preset("room")
    area, volume = 2 * (5 * 3 + 5 * 4 + 3 * 4), 5 * 3 * 4
    assert room.mean_free_path == pytest.approx((4 * volume / area, 0.0))
    assert room.rt60[0][1] == pytest.approx(
        0.161 * volume / (-area * np.log(1 - 0.11) + 4 * 0.000628 * volume), rel=0.01
    )
    assert room.room_gain[0] == pytest.approx(np.sqrt(16 * np.pi * 0.9 / (area * 0.1)), rel=1e-6)


def test_presets_are_in_the_order_of_their_sizes_and_within_what_a_probe_can_find():
    decay = {name: max(p.rt60[0][1], p.rt60[1][1]) for name, p in PRESETS.items()}
    assert (
        decay["studio"]
        < decay["bedroom"]
        < decay["room"]
        < decay["tunnel"]
        < decay["canyon"]
        < decay["cathedral"]
    )
    for p in PRESETS.values():
        assert all(0.1 <= t <= 5.0 for scale in p.rt60 for t in scale)
        assert sorted(p.room_gain)[0] == 0.0 < sorted(p.room_gain)[1] <= 3.0
        assert [g > 0 for g in p.room_gain] == [path > 0 for path in p.mean_free_path]


def test_an_unknown_preset_suggests_the_nearest():
    with pytest.raises(ValueError, match=r"'chruch'.*did you mean 'church'"):
        preset("chruch")
    with pytest.raises(ValueError, match="there are room, "):
        preset("qqq")
