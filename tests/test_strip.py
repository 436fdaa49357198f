"""The channel strip and the readers as the mixer uses them, against float64."""

import math

import naive
import naive_strip
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecs_audio.clips import Clips
from ecs_audio.components import Voices
from ecs_audio.components.master import Master
from ecs_audio.kernels.columns import VoiceColumns
from ecs_audio.kernels.lane import root_of
from ecs_audio.kernels.mix import FRESH, copy_for, mix_quanta
from ecs_audio.kernels.read import ONE, sinc_table
from ecs_audio.kernels.strip import B0, FADE, FADE_TARGET, GAIN, HF, HF_TARGET, QUANTUM, SHELF, TARGET

RATE = 48_000
TABLE = sinc_table()
HERTZ = [125, 250, 500, 1000, 2000, 4000, 5000, 8000, 12_000]
TABLE_DB = {
    0.741: [0, 0, 0, 0, -0.1, -1.5, -2.6, -4.6, -5.1],
    0.472: [0, 0, 0, 0, -0.4, -4.0, -6.5, -11.3, -12.8],
    0.223: [0, 0, 0, -0.1, -1.6, -9.4, -13.0, -20.8, -25.0],
    0.0498: [0, 0, -0.1, -1.9, -10.1, -22.0, -26.1, -35.2, -44.1],
    0.00248: [-0.2, -2.7, -11.8, -23.6, -35.7, -48.0, -52.1, -61.3, -70.9],
}


class Lane:
    """One lane of sixteen that plays a clip at its own speed, the others silent."""

    def __init__(self, samples, hf=1.0, gains=(1, 0, 0, 0), lane=11, looping=False, speed=1.0):
        self.clips, self.voices, self.master, self.lane = Clips(RATE), Voices(16, 0), Master(), lane
        self.clips.add("x", samples)
        names = VoiceColumns._fields[:-1]
        self.v = VoiceColumns(*[self.voices.storage[name] for name in names], self.voices.signal)
        self.v.lane[lane], self.v.looping[lane], self.v.octave[lane] = 1, looping, FRESH
        self.v.speed[lane] = self.v.speed_after[lane] = round(speed * ONE)
        self.signal = self.voices.signal[:, lane]
        self.shelves = self.signal[SHELF:].reshape(3, 9)
        for shelf, own in zip(self.shelves, np.broadcast_to(hf, 3), strict=True):
            b, a = naive.shelf(own)
            shelf[HF] = shelf[HF_TARGET] = math.sqrt(own)
            shelf[B0 : B0 + 5] = *b, *a[1:]
        self.signal[FADE] = self.signal[FADE_TARGET] = 1.0
        self.signal[GAIN : GAIN + 4] = self.signal[TARGET : TARGET + 4] = gains

    def play(self, quanta, ramp=QUANTUM, sinc=True):
        """(64 x quanta, 4): left, right, near, far."""
        c, m, heard = self.clips, self.master, []
        for first in range(0, quanta, 32):
            n = min(32, quanta - first)
            mix_quanta(
                c.bank, c.offset, c.stride, c.length, TABLE, sinc, self.v, ramp - QUANTUM * first, n,
                float(RATE), m.steps, m.lanes, m.mono, m.sums, m.mixed, m.sent,
            )  # fmt: skip
            heard.append(np.concatenate([m.mixed[: 64 * n], m.sent[:, : 64 * n].T], axis=1).astype(float))
        return np.concatenate(heard)


def noise(frames, seed=0):
    return np.random.Generator(np.random.PCG64(seed)).uniform(-1, 1, frames).astype(np.float32)


def decibels(ratio):
    return 20 * np.log10(np.abs(ratio))


def response(samples, hertz=HERTZ):
    return np.exp(-2j * np.pi * np.outer(hertz, np.arange(len(samples))) / RATE) @ samples


@pytest.mark.parametrize("gain_hf", TABLE_DB)
def test_the_mixer_muffles_as_the_table_says_and_as_float64_to_two_ten_thousandths(gain_hf):
    impulse = np.zeros(24_000, np.float32)
    impulse[0] = 1.0
    heard = decibels(response(Lane(impulse, gain_hf).play(375)[:, 0]))
    exact = np.array([naive.shelf_db(gain_hf, f) for f in HERTZ])
    assert exact == pytest.approx(TABLE_DB[gain_hf], abs=0.0501)  # the table is rounded to 0.1
    assert heard == pytest.approx(TABLE_DB[gain_hf], abs=0.055)
    assert np.abs(heard - exact).max() < 2e-4


def wandering(seed, quanta, lowest=0.001):
    rng = np.random.Generator(np.random.PCG64(seed))
    return rng.uniform(0, 1.0, (quanta + 1, 3)) ** 2 * (1 - lowest) + lowest, rng.uniform(
        0, 1, (quanta + 1, 4)
    )


def follow(lane, hf, gains, play=Lane.play):
    heard = []
    for h, g in zip(hf[1:], gains[1:], strict=True):
        lane.shelves[:, HF_TARGET], lane.signal[TARGET : TARGET + 4] = np.sqrt(h), g
        heard.append(play(lane, 1))
    return np.concatenate(heard)


@pytest.mark.parametrize("kind", ["dry", "open", "sending", "fading"])
@pytest.mark.parametrize(("lowest", "error"), [(0.05, 5e-5), (0.001, 5e-4)])  # of float32 coefficients
@pytest.mark.parametrize("seed", range(3))
def test_a_strip_whose_levels_and_muffling_wander_is_that_of_float64(kind, seed, lowest, error):
    quanta, x, fades = 60, noise(64 * 60 + 64, seed), None
    hf, gains = wandering(seed, quanta, lowest)
    if kind == "dry":
        gains[:, 2:] = 0
    if kind == "open":
        hf[:, 1:] = 1.0
    lane = Lane(x, hf[0], gains[0])
    if kind == "fading":
        lane.signal[FADE], step = 0.0, 1 / (0.005 * RATE)
        fades = np.minimum(np.arange(1, 64 * quanta + 1) * step, 1.0)
    heard, expected = follow(lane, hf, gains), naive_strip.strip(x[: 64 * quanta], hf, gains, fades)
    assert np.abs(heard - expected).max() < error


@pytest.mark.parametrize("open_air", [False, True])
def test_a_lane_gives_the_same_bits_whatever_its_neighbours_do(open_air):
    x, (hf, gains) = noise(64 * 40), wandering(5, 30)
    if open_air:
        hf[:, 1:] = 1.0  # its sends are wires

    def beside(**neighbour):
        lane = Lane(x, hf[0], gains[0])
        other = lane.voices.signal[:, lane.lane - 1]

        def play(lane, quanta):
            if neighbour:
                lane.v.lane[lane.lane - 1], lane.v.stop[lane.lane - 1] = 1, 1 << 62
                other[FADE], other[FADE_TARGET] = neighbour.get("fade", 1.0), 1.0
                other[SHELF + 9 + HF] = other[SHELF + 9 + HF_TARGET] = neighbour.get("hf", 1.0)
            return lane.play(quanta)

        return follow(lane, hf, gains, play).tobytes()

    assert beside() == beside(fade=0.0) == beside(hf=0.5) == beside(fade=0.0, hf=0.5)


def test_the_ears_hear_the_same_bits_whether_something_is_sent_or_not():
    x, (hf, gains) = noise(64 * 40), wandering(6, 30)
    sending = follow(Lane(x, hf[0], gains[0]), hf, gains)
    gains[:, 2:] = 0
    alone = follow(Lane(x, hf[0], gains[0]), hf, gains)
    assert sending[:, :2].tobytes() == alone[:, :2].tobytes()
    assert not alone[:, 2:].any()


@pytest.mark.parametrize("gain_hf", TABLE_DB)
def test_each_send_is_muffled_as_the_table_says_whatever_the_others_are(gain_hf):
    impulse = np.zeros(24_000, np.float32)
    impulse[0] = 1.0
    for k in (1, 2):
        hf = np.full(3, 0.3)
        hf[k] = gain_hf
        heard = decibels(response(Lane(impulse, hf, (1, 1, 1, 1)).play(375)[:, 1 + k]))
        assert heard == pytest.approx(TABLE_DB[gain_hf], abs=0.055)
        assert heard[6] == pytest.approx(decibels(gain_hf), abs=0.05)


def test_a_send_that_is_a_wire_is_the_clip_to_the_bit():
    x = noise(64 * 20)
    for hf in ((0.5, 1.0, 1.0), (0.5, 1.0, 0.4)):
        heard = Lane(x, hf, (1, 1, 1, 1)).play(20)
        assert heard[:, 2].astype(np.float32).tobytes() == x.tobytes()


@pytest.mark.parametrize("hertz", [100, 1000, 3000, 6000, 12_000])
def test_eased_muffling_whose_target_flips_every_quantum_never_overshoots(hertz):
    ease = 1 - math.exp(-64 / RATE / 0.05)
    lane = Lane(np.sin(2 * np.pi * hertz / RATE * np.arange(20_000)))
    h, peak = 1.0, 0.0
    for k in range(300):
        h += ((math.sqrt(0.001) if k % 2 == 0 else 1.0) - h) * ease
        lane.shelves[0, HF_TARGET] = h
        peak = max(peak, np.abs(lane.play(1)[:, 0]).max())
    assert peak <= 1.001


@pytest.mark.parametrize("hertz", [100, 1000, 3000, 6000, 12_000])
@pytest.mark.parametrize("ticks", [20, 60])
def test_nor_does_it_when_eased_from_tick_to_tick_as_occlusion_is(hertz, ticks):
    lane, peak, eased = Lane(np.sin(2 * np.pi * hertz / RATE * np.arange(48_000))), 0.0, 1.0
    share, quanta = 1 - math.exp(-1 / ticks / 0.1), RATE // ticks // 64
    for tick in range(2 * ticks // 3):
        eased += ((0.001 if tick % 2 == 0 else 1.0) - eased) * share
        lane.shelves[0, HF_TARGET] = math.sqrt(eased)
        peak = max(peak, np.abs(lane.play(quanta, ramp=64 * quanta)[:, 0]).max())
    assert peak <= 1.001


def test_gains_move_in_one_straight_line_and_end_exactly_at_their_targets():
    lane = Lane(np.ones(6400), gains=(0.25, 0.5, 0, 0))
    lane.signal[TARGET : TARGET + 2] = 1.0, -0.75
    heard = lane.play(20, ramp=832)
    frames = np.minimum(np.arange(1, 1281), 832)
    line = np.stack([0.25 + 0.75 * frames / 832, 0.5 - 1.25 * frames / 832], axis=1)
    assert np.abs(heard[:, :2] - line).max() < 1e-4
    assert (heard[832:, :2] == [1.0, -0.75]).all()


@given(st.lists(st.floats(0, 8), min_size=1, max_size=60))
@settings(max_examples=200)
def test_a_copy_is_kept_where_two_will_do_and_never_lets_anything_fold(speeds):
    speeds, now = [round(speed * ONE) / ONE for speed in speeds], FRESH
    for speed, expected in zip(speeds, naive_strip.copies_for(speeds), strict=True):
        now = copy_for(round(speed * ONE), now)
        assert now == expected
        assert speed <= 1.2 * 2**now + 1e-9
        assert now == 0 or speed > 1.1 * 2 ** (now - 1) - 1e-9


def test_a_copy_changes_at_other_speeds_on_the_way_up_than_down():
    up, now = [], 0
    for speed in np.arange(0.5, 8, 0.001):
        if (new := copy_for(round(speed * ONE), now)) != now:
            up.append(round(float(speed), 2))
        now = new
    down = []
    for speed in np.arange(8, 0.5, -0.001):
        if (new := copy_for(round(speed * ONE), now)) != now:
            down.append(round(float(speed), 2))
        now = new
    assert up == [1.2, 2.4, 4.8]
    assert down == [4.4, 2.2, 1.1]


@pytest.mark.parametrize("sinc", [False, True])
@pytest.mark.parametrize("place", [0, 7, 333])
def test_a_clip_at_its_own_speed_is_its_samples_to_the_bit(sinc, place):
    x = noise(6400)
    lane = Lane(x)
    lane.v.position[lane.lane] = place * ONE
    assert lane.play(90, sinc=sinc)[:, 0].astype(np.float32).tobytes() == x[place : place + 5760].tobytes()


@pytest.mark.parametrize("speed", [1.0, 2.0, 4.0, 8.0])
@pytest.mark.parametrize("sinc", [False, True])
@pytest.mark.parametrize("frames", [96, 200, 1024])
def test_a_loop_is_periodic_on_the_clip_and_on_its_copies(frames, sinc, speed):
    lane = Lane(noise(frames, 3), looping=True, speed=speed)
    heard = lane.play(160, sinc=sinc)[:, 0]
    period = int(frames / math.gcd(frames, int(speed)))
    turns = len(heard) // period
    assert turns >= 4
    first = heard[period : 2 * period]
    assert np.abs(heard[: turns * period].reshape(turns, period) - first).max() < 1e-6
    assert np.abs(first).max() > 1e-4


@pytest.mark.parametrize("gain_hf", [0.0, 1e-13, 1e-6, 0.001])
def test_no_shelf_is_set_below_a_thousandth_where_float32_would_let_it_blow_up(gain_hf):
    assert root_of(gain_hf) == pytest.approx(math.sqrt(0.001))
    heard = Lane(noise(64 * 400), root_of(gain_hf) ** 2, (1, 1, 1, 1)).play(400)
    assert np.abs(heard).max() < 1.0


@pytest.mark.parametrize("sends", [(0.5, 0.5), (0.5, 0.4)])
def test_a_lane_that_comes_to_rest_goes_on_as_if_it_moved(sends):
    quanta, x = 40, noise(64 * 44)
    hf, gains = np.tile([0.3, *sends], (quanta + 1, 1)), np.full((quanta + 1, 4), 0.5)
    hf[:20, 0], gains[:20] = np.linspace(0.9, 0.3, 20), np.linspace(1.0, 0.5, 20)[:, None]
    at_rest = follow(Lane(x, hf[0], gains[0]), hf, gains)

    def beside_one_that_moves(lane, quanta):
        other = lane.voices.signal[:, lane.lane - 1]
        lane.v.lane[lane.lane - 1], lane.v.stop[lane.lane - 1] = 1, 1 << 62
        other[FADE] = other[FADE_TARGET] = 1.0
        for shelf in other[SHELF:].reshape(3, 9):
            shelf[HF_TARGET] = 0.9 if shelf[HF_TARGET] < 0.7 else 0.5
        return lane.play(quanta)

    assert follow(Lane(x, hf[0], gains[0]), hf, gains, beside_one_that_moves).tobytes() == at_rest.tobytes()
    assert np.abs(at_rest - naive_strip.strip(x[: 64 * quanta], hf, gains, None)).max() < 5e-5
