"""OpenAL Soft as a peer: its own mixer, rendering into memory through a loopback device.

The library is the one that the wheel of `cyal` carries, called through ctypes. Numbers of enumerations
are those of the headers of OpenAL 1.1, EFX 1.0 and ALC_SOFT_loopback.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

RATE = 48_000
DECAYS = 0.9, 3.0
"""Reverberation time of each send [s]."""

DEVICE = (
    (0x1990, 0x1501),  # FORMAT_CHANNELS_SOFT: STEREO
    (0x1991, 0x1406),  # FORMAT_TYPE_SOFT: FLOAT
    (0x1007, RATE),  # FREQUENCY
    (0x1992, 0),  # HRTF_SOFT
    (0x199A, 0),  # OUTPUT_LIMITER_SOFT
    (0x20003, len(DECAYS)),  # MAX_AUXILIARY_SENDS
)
MONO_SOURCES, MONO_FLOAT32 = 0x1010, 0x10010
BUFFER, LOOPING, POSITION, PITCH, RELATIVE = 0x1009, 0x1007, 0x1004, 0x1003, 0x202
RESAMPLERS, RESAMPLER, RESAMPLER_NAME = 0x1210, 0x1212, 0x1213
DIRECT_FILTER, SEND_FILTER, FILTER_TYPE, LOW_PASS, GAIN_HF = 0x20005, 0x20006, 0x8001, 1, 2
EFFECT_TYPE, EAX_REVERB, DECAY_TIME, SLOT_EFFECT = 0x8001, 0x8000, 6, 1

C_TYPES = {
    "v": None, "i": ctypes.c_int, "u": ctypes.c_uint, "f": ctypes.c_float,
    "p": ctypes.c_void_p, "s": ctypes.c_char_p,
}  # fmt: skip
SIGNATURES = {
    "alcLoopbackOpenDeviceSOFT": "ps", "alcRenderSamplesSOFT": "vppi", "alcCloseDevice": "ip",
    "alcCreateContext": "ppp", "alcDestroyContext": "vp",
    "alcMakeContextCurrent": "ip", "alcGetCurrentContext": "p",
    "alGetError": "i", "alGetStringiSOFT": "sii", "alGetInteger": "ii", "alDistanceModel": "vi",
    "alGenBuffers": "vip", "alBufferData": "vuipii", "alGenSources": "vip", "alSourcePlayv": "vip",
    "alSourcei": "vuii", "alSource3i": "vuiiii", "alSourcef": "vuif", "alSource3f": "vuifff",
    "alGenFilters": "vip", "alFilteri": "vuii", "alFilterf": "vuif",
    "alGenEffects": "vip", "alEffecti": "vuii", "alEffectf": "vuif",
    "alGenAuxiliaryEffectSlots": "vip", "alAuxiliaryEffectSloti": "vuii",
}  # fmt: skip
"""Letters for the result and each argument."""


@functools.cache
def library():
    """OpenAL Soft with its functions declared, or None where `cyal` does not carry it for this system."""
    wheel = importlib.util.find_spec("cyal")
    folders = [] if wheel is None else wheel.submodule_search_locations
    found = sorted(path for folder in folders for path in Path(folder).glob("libopenal*"))
    if not found:
        return None
    al = ctypes.CDLL(str(found[-1]))
    for name, (result, *arguments) in SIGNATURES.items():
        function = getattr(al, name)
        function.restype, function.argtypes = C_TYPES[result], [C_TYPES[letter] for letter in arguments]
    return al


@contextmanager
def context(al, sources) -> Iterator[Callable[[np.ndarray], None]]:
    """A loopback device for so many sources; its context is current within, the previous one after.

    Yields a function that renders into a float32 array (frames, 2).
    """
    attributes = [*(number for pair in DEVICE for number in pair), MONO_SOURCES, sources, 0]
    before = al.alcGetCurrentContext()
    with ExitStack() as stack:
        device = al.alcLoopbackOpenDeviceSOFT(None)
        if not device:
            raise RuntimeError("OpenAL Soft opens no loopback device")
        stack.callback(al.alcCloseDevice, device)
        own = al.alcCreateContext(device, (ctypes.c_int * len(attributes))(*attributes))
        if not own:
            raise RuntimeError(f"OpenAL Soft makes no context for {sources} sources")
        stack.callback(al.alcDestroyContext, own)
        al.alcMakeContextCurrent(own)
        stack.callback(al.alcMakeContextCurrent, before)
        yield lambda out: al.alcRenderSamplesSOFT(device, out.ctypes.data, len(out))


def generate(make, count):
    """Names of so many new objects."""
    names = (ctypes.c_uint * count)()
    make(count, names)
    return names


def check(al):
    """Raise RuntimeError for the first error since the last look."""
    if error := al.alGetError():
        raise RuntimeError(f"OpenAL error {error:#x}")


def low_pass(al, gain_hf):
    """A low-pass filter, to be given to sources."""
    (name,) = generate(al.alGenFilters, 1)
    al.alFilteri(name, FILTER_TYPE, LOW_PASS)
    al.alFilterf(name, GAIN_HF, gain_hf)
    return name


def reverbs(al):
    """Slots with an EAX reverb each."""
    slots = generate(al.alGenAuxiliaryEffectSlots, len(DECAYS))
    effects = generate(al.alGenEffects, len(DECAYS))
    for slot, effect, decay in zip(slots, effects, DECAYS, strict=True):
        al.alEffecti(effect, EFFECT_TYPE, EAX_REVERB)
        al.alEffectf(effect, DECAY_TIME, decay)
        al.alAuxiliaryEffectSloti(slot, SLOT_EFFECT, effect)
    return slots


def resampler_called(al, name):
    """Number of a resampler. Raises ValueError, which lists the names there are."""
    names = [al.alGetStringiSOFT(RESAMPLER_NAME, k).decode() for k in range(al.alGetInteger(RESAMPLERS))]
    if name not in names:
        raise ValueError(f"resampler must be one of {', '.join(names)}, not {name!r}")
    return names.index(name)


@contextmanager
def mixer(clips, sources, *, resampler="Linear", frames=512, seed=0) -> Iterator[Callable[[], np.ndarray]]:
    """Loops around the listener, muffled one by one, on their way to both ears and to two EAX reverbs.

    clips: (n, length) float32, played in turn. Pitches are .7 to 1.4, GAINHF .1 to .9 on the direct path
    and on both sends. Nothing moves. Yields a function that mixes the next block, float32 (frames, 2),
    the same array each time. Raises ValueError for an unknown resampler.
    """
    al, rng, out = library(), np.random.default_rng(seed), np.zeros((frames, 2), np.float32)
    with context(al, sources) as render:
        number = resampler_called(al, resampler)
        slots = reverbs(al)
        buffers, players = generate(al.alGenBuffers, len(clips)), generate(al.alGenSources, sources)
        for buffer, samples in zip(buffers, clips, strict=True):
            al.alBufferData(buffer, MONO_FLOAT32, samples.ctypes.data, samples.nbytes, RATE)
        for k, player in enumerate(players):
            muffling = low_pass(al, rng.uniform(0.1, 0.9))
            al.alSourcei(player, BUFFER, buffers[k % len(clips)])
            al.alSourcei(player, LOOPING, 1)
            al.alSource3f(player, POSITION, *rng.normal(0.0, 10.0, 3))
            al.alSourcef(player, PITCH, rng.uniform(0.7, 1.4))
            al.alSourcei(player, RESAMPLER, number)
            al.alSourcei(player, DIRECT_FILTER, muffling)
            for send, slot in enumerate(slots):
                al.alSource3i(player, SEND_FILTER, slot, send, muffling)
        check(al)
        al.alSourcePlayv(sources, players)
        check(al)

        def block():
            render(out)
            return out

        yield block


def response_of_low_pass(frequencies, gains, *, before=1024, after=8192):
    """Level of the low-pass filter at each frequency [Hz] for each GAINHF, (gains, frequencies) [dB].

    An impulse plays through one source at the listener, filtered and not; the quotient of their spectra
    is free of whatever else is on the way. before, after: frames around the impulse.
    """
    al = library()
    turns = np.exp(-2j * np.pi / RATE * np.outer(np.arange(before + after), frequencies))
    impulse = np.zeros(before + after, np.float32)
    impulse[before] = 0.5
    spectra = []
    for gain_hf in (1.0, *gains):
        out = np.zeros((len(impulse), 2), np.float32)
        with context(al, 1) as render:
            al.alDistanceModel(0)
            (buffer,), (player,) = generate(al.alGenBuffers, 1), generate(al.alGenSources, 1)
            al.alBufferData(buffer, MONO_FLOAT32, impulse.ctypes.data, impulse.nbytes, RATE)
            al.alSourcei(player, BUFFER, buffer)
            al.alSourcei(player, RELATIVE, 1)
            al.alSourcei(player, DIRECT_FILTER, low_pass(al, gain_hf))
            al.alSourcePlayv(1, ctypes.byref(ctypes.c_uint(player)))
            check(al)
            render(out)
        spectra.append(out[:, 0] @ turns)
    return 20.0 * np.log10(np.abs(spectra[1:]) / np.abs(spectra[0]))
