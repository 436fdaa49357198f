"""Benchmarks of the engine: running them, judging them by targets and history, showing them on a page."""

from ecs_audio.bench.errors import BenchError

__all__ = ["BenchError"]
