"""The worker: a thread that traces a batch over a snapshot of the world while the host goes on."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, Thread

PATIENCE = 1.0
"""Time that closing waits for a batch to end [s]."""


class Worker:
    """Does one job at a time, on a thread of its own."""

    def __init__(self) -> None:
        self._turn = Condition()
        self._job: Callable[[], None] | None = None
        self._closed = False
        self.error: BaseException | None = None
        """What ended the thread before its time."""
        self._thread = Thread(target=self._work, name="ecs_audio worker", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether a job is still under way."""
        return self._job is not None and self._thread.is_alive()

    @property
    def alive(self) -> bool:
        """Whether the thread takes jobs."""
        return self.error is None and self._thread.is_alive() and not self._closed

    def submit(self, job: Callable[[], None]) -> None:
        """Hand over a job; the worker must not be busy."""
        with self._turn:
            self._job = job
            self._turn.notify()

    def wait(self) -> None:
        """Return once no job is under way."""
        with self._turn:
            self._turn.wait_for(lambda: not self.busy)

    def close(self) -> None:
        """End the thread, at most a second after its job."""
        with self._turn:
            self._closed = True
            self._turn.notify_all()
        self._thread.join(PATIENCE)

    def _work(self) -> None:
        try:
            while True:
                with self._turn:
                    self._turn.wait_for(lambda: self._job is not None or self._closed)
                    job = self._job
                if job is None or self._closed:
                    return
                job()
                with self._turn:
                    self._job = None
                    self._turn.notify_all()
        except BaseException as error:  # whatever it was, the host hears of it at its next tick
            self.error = error
        finally:
            with self._turn:
                self._job = None
                self._turn.notify_all()
