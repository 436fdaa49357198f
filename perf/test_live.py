"""What live output costs: a tick that publishes beside one that steers the mixer itself."""

from figures import note
from lockstep import Device
from turns import Turn, seconds

TICK = 1 / 60


def test_a_tick_that_publishes_beside_one_that_steers(benchmark, rounds, crowd):
    (steering, _, step), (live, _, stroll) = crowd(100), crowd(100)
    with steering, live:
        device = Device(live)

        def before():
            stroll()
            device.take(800)

        def offline():
            step()
            steering.render(800)

        benchmark.pedantic(live.tick, args=(TICK,), setup=before, rounds=rounds(200, 50))
        turns = Turn(lambda: live.tick(TICK), before, 11), Turn(lambda: steering.tick(TICK), offline, 11)
        taken = seconds(rounds(41, 15), *turns)
        benchmark.extra_info |= {
            "play_microseconds": live.telemetry.microseconds["play"],
            "load": live.live.load, "peak_load": live.live.peak_load,
        }  # fmt: skip
    note(
        benchmark, "tick.live", "A tick of 100 sources that publishes to live output", taken[:, 0],
        peer="tick that steers the mixer", peer_values=taken[:, 1],
    )  # fmt: skip
