"""Code that somebody is writing may never end: what runs it is interrupted in time."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import threading
from collections.abc import Iterator

LIMIT = 3.0  # seconds; what takes as long here takes the page more than the ten it may
AGAIN = 0.5  # code that catches everything is interrupted again
# Code in C that never lets go of the interpreter leaves nobody to interrupt it, or to hear Ctrl-C:
# then the process ends, and says where it stood.
DEAF = 20.0


class TooLongError(Exception):
    """Code took longer than it may."""

    def __init__(self) -> None:
        super().__init__(f"no end within {LIMIT:g} s")


class Limit:
    """At most one thread runs limited code at a time; others may end it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.thread: int | None = None
        self.timer: threading.Timer | None = None
        self.is_over = False

    @contextlib.contextmanager
    def within(self) -> Iterator[None]:
        """Raise `TooLongError` in what follows once it has taken too long."""
        with self.lock:
            self.thread = threading.get_ident()
        self._wait(0.0 if self.is_over else LIMIT)
        faulthandler.dump_traceback_later(DEAF, exit=True)
        try:
            yield
        finally:
            while not self._done():
                pass

    def _done(self) -> bool:
        """Nothing runs any more; False when even that was interrupted, on the last moment."""
        try:
            with self.lock:
                self.thread = None
                if self.timer is not None:
                    self.timer.cancel()
            faulthandler.cancel_dump_traceback_later()
            return self.thread is None
        except TooLongError:
            return False

    def _wait(self, seconds: float) -> None:
        self.timer = threading.Timer(seconds, self.interrupt)
        self.timer.daemon = True
        self.timer.start()

    def interrupt(self) -> None:
        """End what runs, at its next step; code in C is waited for."""
        with self.lock:
            if self.thread is None:
                return
            error = ctypes.py_object(TooLongError)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), error)
            self._wait(AGAIN)

    def end(self) -> None:
        """End what runs, and all that would be run."""
        self.is_over = True
        self.interrupt()


limit = Limit()
