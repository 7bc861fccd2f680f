"""One rank as a process of its own: `python -m experiments.worker JOB`.

It lives no longer than its launcher: the launcher holds the other end of its standard input.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import signal
import sys
import threading

from experiments.harness import Job, connect, leave, report_failure, run_rank


def _die_with_launcher() -> None:
    def watch() -> None:
        while os.read(0, 1):
            pass
        os.killpg(0, signal.SIGKILL)  # a launcher that was killed leaves no orphan

    threading.Thread(target=watch, daemon=True).start()


def main(argument: str) -> int:
    """Run one rank; its failure is told through the store and by exit status 1."""
    _die_with_launcher()
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)
    job = Job(**json.loads(argument))
    store = connect(job)
    try:
        run_rank(job, importlib.import_module(job.module), store)
        leave()
    except BaseException as error:
        report_failure(store, job.rank, error)
        return 1
    return 0


if __name__ == "__main__":
    status = main(sys.argv[1])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # torch's own threads must not delay or fail the exit
