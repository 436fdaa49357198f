"""The report of a run: one page with everything that happened, to be looked at and listened to."""

from ecs_audio.report.diary import Diary
from ecs_audio.report.errors import ReportError
from ecs_audio.report.page import page, require

__all__ = ["Diary", "ReportError", "page", "require"]
