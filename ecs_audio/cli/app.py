"""The command and its group options; what heavy modules do is imported by the commands that need it."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import NoReturn

import click

from ecs_audio.cli.analyze import analyze
from ecs_audio.cli.bench import bench
from ecs_audio.cli.check import check
from ecs_audio.cli.devices import devices
from ecs_audio.cli.doctor import doctor
from ecs_audio.cli.errors import SentenceGroup
from ecs_audio.cli.list import list_scenarios
from ecs_audio.cli.play import play
from ecs_audio.cli.run import run
from ecs_audio.cli.world import world

TERMINATED = 128 + signal.SIGTERM


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"ecs-audio {sys.modules['ecs_audio'].__version__}")
        ctx.exit()


@click.group(
    cls=SentenceGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version."
)
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Spatial sound in voxel worlds: render scenarios, check what is heard, look into world files."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for command in (list_scenarios, run, play, check, analyze, world, bench, devices, doctor):
    cli.add_command(command)


def main() -> None:
    """Run the command with the arguments of this process, and exit."""
    signal.signal(signal.SIGTERM, _terminate)
    cli(prog_name="ecs-audio")


def _terminate(_number: int, _frame: FrameType | None) -> NoReturn:
    # As an exception, so that a file that is half written is removed on the way out.
    sys.exit(TERMINATED)
