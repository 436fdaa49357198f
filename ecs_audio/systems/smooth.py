"""smooth: targets are approached, so that nothing steps."""

from __future__ import annotations

import math

from ecs_audio.components import Sources
from ecs_audio.kernels.levels import ease
from ecs_audio.settings import Settings


def smooth(sources: Sources, settings: Settings, *, dt: float) -> None:
    """Ease gains towards their targets; a source that was never heard starts at them.

    dt: until the next tick [s].
    """
    share = 1.0 - math.exp(-dt / settings.occlusion_time) if settings.occlusion_time > 0.0 else 1.0
    ease(share, sources.state, sources.gain_target, sources.gain_hf_target, sources.gain, sources.gain_hf)
