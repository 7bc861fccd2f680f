"""The two ways a command can end badly: a bad request (exit 2) and a run that failed (exit 1)."""

from __future__ import annotations


class ExperimentError(Exception):
    """One line for the user; `detail` (a traceback) is printed above it."""

    exit_code = 1

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class BadRequest(ExperimentError):
    """What was asked cannot be done here: an unknown name, a missing device, a taken port."""

    exit_code = 2


class RunFailed(ExperimentError):
    """A rank died or hung, a claim does not hold, a value differs, a record cannot be written."""
