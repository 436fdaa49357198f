"""What may hang is done on a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


class Errand(Future[Any]):
    """The result of work that a thread has been sent to do, once it is back."""

    def __init__(self, work: Callable[[], Any], name: str) -> None:
        super().__init__()
        self.thread = threading.Thread(target=self._run, args=[work], name=name, daemon=True)
        try:
            self.thread.start()
        except RuntimeError:  # the interpreter is ending and starts no more threads
            self._run(work)

    def _run(self, work: Callable[[], Any]) -> None:
        try:
            self.set_result(work())
        except Exception as error:
            self.set_exception(error)

    def wait(self, timeout: float) -> Any:
        """The result, or what was raised, or TimeoutError after so many seconds."""
        result = self.result(timeout)
        self.thread.join(timeout)
        return result
