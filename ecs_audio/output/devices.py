"""The devices that PortAudio offers, found by number or by name."""

from __future__ import annotations

import ctypes
import sys
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple


class DeviceError(RuntimeError):
    """There is no such device, or it does not play what it shall."""


class DeviceWarning(UserWarning):
    """Sound goes nowhere, for the reason given; the simulation goes on."""


class Device(NamedTuple):
    """One output of the machine."""

    index: int  # type: ignore[assignment]  # hides tuple's method, which nobody needs here
    name: str
    host_api: str
    """What PortAudio reaches it through: ALSA, Core Audio, MME ..."""
    channels: int
    rate: float
    """Its own sample rate [Hz]."""
    low_latency: float
    """What PortAudio suggests at least [s]."""
    is_default: bool


_MISSING = (
    "PortAudio is not installed: install libportaudio2 (Debian, Ubuntu) or portaudio (Fedora); "
    "on macOS and Windows the wheel of sounddevice brings it"
)


def portaudio() -> Any:
    """The module sounddevice, which starts PortAudio when it is first imported.

    It sends what ALSA and JACK say meanwhile to nowhere. Raises DeviceError where PortAudio is not there.
    """
    try:
        import sounddevice
    except (ImportError, OSError) as error:
        raise DeviceError(_MISSING) from error
    except Exception as error:  # its own class of error, which cannot be imported either
        raise DeviceError(f"PortAudio does not start: {error}") from error
    return sounddevice


def devices() -> list[Device]:
    """Everything that sound can be played on. Raises DeviceError where PortAudio is not there."""
    sd = portaudio()
    try:
        default = sd.query_devices(kind="output")["index"]
    except (ValueError, sd.PortAudioError):  # there is none, or the host has set one that is not there
        default = None
    apis = [api["name"] for api in sd.query_hostapis()]
    return [
        Device(
            one["index"],
            one["name"],
            apis[one["hostapi"]],
            one["max_output_channels"],
            one["default_samplerate"],
            one["default_low_output_latency"],
            one["index"] == default,
        )
        for one in sd.query_devices()
        if one["max_output_channels"] > 0
    ]


def find_device(wanted: int | str | None = None) -> Device:
    """The device with a number, with a name or words of one, or the default.

    Words may be of the host API too ("usb alsa"); upper and lower case are the same. Raises DeviceError where
    there is none or more than one, and says which there are.
    """
    return pick(wanted, devices())


def pick(wanted: int | str | None, found: list[Device]) -> Device:
    """What `find_device` does, among given devices."""
    if not found:
        raise DeviceError(
            "PortAudio finds no device to play on: is one plugged in, or a sound server running?"
        )
    if wanted is None:
        return next((one for one in found if one.is_default), found[0])
    if isinstance(wanted, int):
        fitting = [one for one in found if one.index == wanted]
    else:
        name = wanted.lower()
        fitting = [one for one in found if name in (one.name.lower(), _full_name(one))]
        fitting = fitting or [one for one in found if all(word in _full_name(one) for word in name.split())]
    if len(fitting) > 1:  # Windows has each device once in each host API
        usual = next((one.host_api for one in found if one.is_default), None)
        fitting = [one for one in fitting if one.host_api == usual] or fitting
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise DeviceError(f"several devices are named {wanted!r}, take a number: {_list(fitting)}")
    near = get_close_matches(str(wanted), [one.name for one in found], cutoff=0.4)
    offered = [one for one in found if one.name in near] or found
    raise DeviceError(f"there is no device {wanted!r} to play on; there is {_list(offered)}")


def _full_name(device: Device) -> str:
    return f"{device.name}, {device.host_api}".lower()


def _list(some: list[Device]) -> str:
    return ", ".join(f"{one.index} {one.name!r} ({one.host_api})" for one in some)


@cache
def quiet() -> None:
    """Keep ALSA from writing on the terminal from now on: its errors come back as errors all the same.

    Through ALSA's own switch, for the process: a device says at any time that it ran empty, into whatever
    is drawn there. Sending file descriptor 2 elsewhere would take everybody's words.
    """
    try:
        alsa = ctypes.CDLL("libasound.so.2") if sys.platform == "linux" else None
    except OSError:
        return
    if alsa is not None:
        # It takes a text and does nothing: unlike a function of Python's it may be called on any thread.
        alsa.snd_lib_error_set_handler(ctypes.CDLL(None).strlen)
