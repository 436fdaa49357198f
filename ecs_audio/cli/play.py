"""ecs-audio play: a scenario or a sound file, live."""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from ecs_audio.cli import show
from ecs_audio.cli.errors import one_line
from ecs_audio.cli.find import load, shipped
from ecs_audio.cli.parameters import Parameter, split, values
from ecs_audio.cli.progress import say, warm_up
from ecs_audio.cli.window import spelled_window, window_options

if TYPE_CHECKING:
    from ecs_audio.output.speakers import Speakers
    from ecs_audio.scenario import Scenario, Stage
    from ecs_audio.telemetry import Telemetry

LIVE: Final = {"workers": 1, "stream_patience": 0.0}
"""Settings that never let a tick wait."""
SILENT: Final = "silent"
"""What `Speakers` calls no device at all."""
SOUND: Final = "sound"
"""The name of the only source when a sound file is played."""
DAY: Final = 86_400.0
"""The longest play of a sound file that does not say how long it is [s]."""


@click.command(short_help="Play a scenario or a sound file, live.")
@click.argument("name", metavar="NAME|FILE.py|SOUND-FILE")
@click.option("--device", metavar="NUMBER|NAME", help="An output device, see `ecs-audio devices`.")
@click.option("--silent", is_flag=True, help="Open no device; everything else is the same.")
@click.option(
    "--record", type=click.Path(path_type=Path), help="A .wav, .flac or .ogg file of what is played."
)
@click.option(
    "--set", "sets", multiple=True, metavar="KEY=VALUE", help="A parameter of the scenario; repeatable."
)
@click.option("--setting", "settings", multiple=True, metavar="KEY=VALUE", help="A setting of the engine.")
@click.option("--world", type=click.Path(exists=True), help="A world file: --set world=FILE.")
@window_options
@click.option("--seconds", metavar="N", help="How long: --set seconds=N; of a sound file, at most.")
@click.option(
    "--acoustics", type=click.Choice(["off", "direct", "reflect", "full"]), help="How much is traced."
)
@click.option(
    "--block", type=click.IntRange(16, 8192), default=512, show_default=True,
    help="What the device asks for at a time [frames].",
)  # fmt: skip
@click.option("--plain", is_flag=True, help="No screen: a line a second on stderr.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
def play(
    name: str, device: str | None, silent: bool, record: Path | None, sets: tuple[str, ...],
    settings: tuple[str, ...], world: str | None, around: tuple[float, float, float] | None,
    radius: float | None, cell_size: float | None, seconds: str | None, acoustics: str | None, block: int,
    plain: bool, as_json: bool,
) -> None:  # fmt: skip
    """Play a scenario live, a shipped one by NAME or your own FILE.py, or a sound file.

    At a terminal a screen shows what goes on. Ctrl-C ends it, which is no error: the summary is printed,
    and what was recorded is complete. Where nothing can sound, --silent or --record plays nevertheless.
    """
    if silent and device is not None:
        raise click.UsageError("--device and --silent exclude each other")
    if record is not None:
        _check_sound_file(record)
    spelled = {"world": world, "seconds": seconds}
    given = (*sets, *(f"{key}={value}" for key, value in spelled.items() if value is not None))
    window = spelled_window(around, radius, cell_size, "world" in split(given, "--set"))
    texts = split((*given, *window), "--set")
    changes = split((*settings, *([f"acoustics={acoustics}"] if acoustics else [])), "--setting")
    piece = _piece(name, texts, changes)
    where = _device(device, silent=silent, is_needed=record is None)
    found = _played(piece, where, record, block=block, plain=plain)
    if as_json:
        show.json(found)
        return
    from ecs_audio.cli.closing import lines

    show.pairs(lines(found))


class Piece(NamedTuple):
    """What is to be played."""

    name: str
    file: Path
    parameters: dict[str, Any]
    scenario: Scenario


class Over(Exception):
    """The play ends here, between two ticks."""


def _piece(name: str, texts: dict[str, str], changes: dict[str, str]) -> Piece:
    is_sound = Path(name).suffix not in ("", ".py") and name not in shipped()
    if is_sound and not Path(name).is_file():
        raise click.UsageError(f"there is no file {name!r}")
    script = None if is_sound else load(name)

    from ecs_audio.cli.make import build, maker, parameters_from, settings_from

    settings = LIVE | settings_from(changes)
    if script is not None:
        parameters = parameters_from(script, texts)
        scenario = build(script, maker(script, settings), parameters)
        return Piece(script.name, script.file, parameters, scenario)
    parameters = values(texts, {"seconds": Parameter("seconds", float, DAY)}, name, "parameter")
    return Piece(Path(name).name, Path(name), parameters, _of_sound(Path(name), settings, **parameters))


def _of_sound(file: Path, settings: dict[str, Any], seconds: float = DAY) -> Scenario:
    """A scenario in which nothing happens but that a file is streamed, flat, for `seconds` at most."""
    import ecs_audio as ea
    from ecs_audio.clips.stream import Stream

    clips = ea.Clips()
    with Stream(file, clips.rate) as stream:  # an MP3 does not know how long it is
        length = DAY if stream.frames is None else stream.frames / clips.rate

    def begin(stage: Stage) -> None:
        stage.sources[SOUND] = stage.engine.stream(file)

    return ea.Scenario(
        ea.World.empty(size=(1, 1, 1)), clips, min(length, seconds), events=[ea.Event(0.0, begin)],
        settings=ea.Settings(**({"acoustics": "off"} | settings)),
    )  # fmt: skip


def _device(wanted: str | None, *, silent: bool, is_needed: bool) -> int | str | None:
    """What `Speakers` shall open. Raises DeviceError if it is not there and nothing can do without."""
    from ecs_audio.output.devices import DeviceError, find_device

    if silent:
        return SILENT
    device = int(wanted) if wanted is not None and wanted.isdecimal() else wanted
    try:
        find_device(device)
    except DeviceError as error:
        if is_needed:
            raise
        say(f"Silent: {one_line(str(error))}")
        return SILENT
    return device


def _played(
    piece: Piece, device: int | str | None, record: Path | None, *, block: int, plain: bool
) -> dict[str, Any]:
    """Play to the end or until Ctrl-C; returns the summary."""
    import ecs_audio as ea
    from ecs_audio.cli.closing import closing
    from ecs_audio.cli.meters import Meters
    from ecs_audio.cli.screen import shown
    from ecs_audio.perform import engine_for, play

    scenario = piece.scenario
    if round(scenario.seconds * scenario.clips.rate) < 1:
        raise click.UsageError(f"{piece.name} lasts {scenario.seconds:g} s: there is nothing to play")
    with engine_for(scenario) as engine:
        warm_up(engine)
        speakers = ea.Speakers(engine, device=device, block=block, record=record)
        meters = Meters(piece.name, scenario, speakers, engine.telemetry)
        with (
            redirect_stdout(sys.stderr),  # stdout is for results
            _open(speakers, may_be_silent=device == SILENT or record is not None),
            _interruptible() as over,
            shown(meters, plain=plain) as ticked,
        ):

            def watch(stage: Stage, telemetry: Telemetry) -> None:
                meters(stage, telemetry)
                ticked()
                sound = stage.sources.get(SOUND)
                if over() or (sound is not None and not sound.alive):
                    raise Over

            with suppress(Over, KeyboardInterrupt):
                play(scenario, engine, watch=watch)
            meters.look()
    found = closing(meters, record, interrupted=over())
    return {"file": str(piece.file), "parameters": piece.parameters} | found


@contextmanager
def _open(speakers: Speakers, *, may_be_silent: bool) -> Iterator[None]:
    """Speakers that play. Raises ClickException if they are silent and that helps nobody."""
    from ecs_audio.output.devices import DeviceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeviceWarning)  # their status says the same
        speakers.start()
    try:
        status = speakers.status()
        if status["state"] == "silent" and status["reason"]:
            if not may_be_silent:
                raise click.ClickException(one_line(status["reason"]))
            say(f"Silent: {one_line(status['reason'])}")
        yield
    finally:
        speakers.close()


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C end the play between two ticks; gives the function that tells whether it came."""
    came = False

    def note(_number: int, _frame: FrameType | None) -> None:
        nonlocal came
        came = True
        signal.signal(signal.SIGINT, before)  # whatever hangs, a second one ends it

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # a shell lets what runs beside it ignore Ctrl-C
        signal.signal(signal.SIGINT, note)
    try:
        yield lambda: came
    finally:
        signal.signal(signal.SIGINT, before)


def _check_sound_file(path: Path) -> None:
    from ecs_audio.output.files import check_ending

    try:
        check_ending(path)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if path.exists() and not path.is_file():
        raise click.UsageError(f"the recording {str(path)!r} is there and not a regular file")
