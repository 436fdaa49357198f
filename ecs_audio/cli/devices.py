"""ecs-audio devices: the output devices that sound can go to."""

from __future__ import annotations

import click

from ecs_audio.cli import show


@click.command(short_help="The output devices, a line each.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def devices(as_json: bool) -> None:
    """List the output devices; `ecs-audio play --device` takes a number or part of a name.

    Exits with 1 if there is no PortAudio or no output device.
    """
    from ecs_audio.output.devices import devices, pick

    found = devices()
    pick(None, found)  # raises what says that there is none
    if as_json:
        show.json({"devices": [device._asdict() for device in found]})
        return
    rows = [
        (
            str(device.index), device.name, device.host_api, str(device.channels), f"{device.rate:g}",
            f"{1000.0 * device.low_latency:.1f}", "default" if device.is_default else "",
        )
        for device in found
    ]  # fmt: skip
    show.table(("number", "name", "host API", "channels", "Hz", "latency ms", ""), rows, right=(0, 3, 4, 5))
