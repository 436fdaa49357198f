"""What an engine believes about one source, and how that comes about: for developers of hosts."""

from ecs_audio.explain.source import explain

__all__ = ["explain"]
