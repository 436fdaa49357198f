"""The `ecs-audio` command."""

from ecs_audio.cli.app import cli, main

__all__ = ["cli", "main"]
