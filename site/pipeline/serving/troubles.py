"""What is known to be wrong, by what it is about, so that a mended thing takes its own away."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from pipeline import faults
from pipeline.code import PROJECT
from pipeline.errors import Finding

MEND = "mend it, and save"


class Troubles:
    """Findings by owner: a file that was read, a page that was bound, a part of the site."""

    def __init__(self) -> None:
        self.by_owner: dict[str, tuple[Finding, ...]] = {}

    def put(self, owner: str, findings: Sequence[Finding]) -> None:
        """What is wrong with `owner` now."""
        self.by_owner[owner] = tuple(findings)

    def read(self, prefix: str, findings: Iterable[Finding]) -> None:
        """What reading found in files whose names begin with `prefix`, instead of before."""
        for owner in [key for key in self.by_owner if key.startswith(f"read {prefix}")]:
            del self.by_owner[owner]
        for item in findings:
            owner = f"read {item.file}"
            self.by_owner[owner] = (*self.by_owner.get(owner, ()), item)

    def keep_folders(self, slugs: Collection[str]) -> None:
        """Forget what reading found in the folders of other chapters: they are no more."""
        for owner in list(self.by_owner):
            _, _, file = owner.partition("read content/")
            slug, _, rest = file.partition("/")
            if rest and slug not in slugs:
                del self.by_owner[owner]

    def forget(self, file: str) -> None:
        """What a page's text and its bindings had wrong, now that it is gone."""
        for owner in (f"text {file}", f"bound {file}"):
            self.by_owner.pop(owner, None)

    def attempt(self, owner: str, action: Callable[[], object]) -> bool:
        """Whether `action` went well; if not, why is noted under `owner`."""
        try:
            action()
        except Exception as error:  # whatever an edited file does wrong is told, never raised
            self.fail(owner, error)
            return False
        self.by_owner.pop(owner, None)
        return True

    def fail(self, owner: str, error: BaseException) -> None:
        """Note an error as what is wrong with `owner`."""
        self.by_owner[owner] = faults.findings(error, PROJECT, MEND)

    def all(self) -> list[Finding]:
        """Everything, in the order of files and lines, each once."""
        return sorted({item for found in self.by_owner.values() for item in found})
