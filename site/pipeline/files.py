"""Reading content: a file is UTF-8, not too large, inside the project, or it is a finding."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pipeline.errors import Finding

MAX_BYTES = 1_000_000


@dataclass
class Reader:
    """Reads files below `root` and notes what is wrong with them."""

    root: Path
    findings: list[Finding] = field(default_factory=list)

    def error(self, file: Path, line: int, what: str, value: str, rule: str, action: str) -> None:
        """Note one thing that is wrong; `file` is relative to the root."""
        self.findings.append(Finding(file.as_posix(), line, what, value, rule, action))

    def text(self, file: Path) -> str | None:
        """The text of a file, its line ends plain; None (noted) when it cannot be used."""
        data = self.data(file)
        if data is None:
            return None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            self.error(
                file,
                line,
                "not UTF-8",
                f"byte 0x{data[error.start]:02x}",
                "content is UTF-8 text",
                "save the file as UTF-8",
            )
            return None
        if "\0" in text:
            line = text.count("\n", 0, text.index("\0")) + 1
            self.error(file, line, "control character", "NUL", "content is text", "remove it")
            return None
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def data(self, file: Path, limit: int = MAX_BYTES) -> bytes | None:
        """The bytes of a file; None (noted) when it is missing, too large or outside."""
        path = self.root / file
        try:
            if not path.resolve().is_relative_to(self.root.resolve()):
                self.error(
                    file,
                    1,
                    "file outside the project",
                    file.name,
                    "content lies in the project",
                    "replace the link by the file",
                )
                return None
            size = path.stat().st_size
            if size > limit:
                self.error(
                    file, 1, "file too large", f"{size} bytes", f"at most {limit} bytes", "split it"
                )
                return None
            return path.read_bytes()
        except OSError as error:
            self.error(
                file,
                1,
                "file cannot be read",
                file.name,
                str(error.strerror),
                "add it or mend its permissions",
            )
            return None
