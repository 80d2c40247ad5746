"""Which files and folders an ignore file leaves out, as gitignore(5) has it and ripgrep applies it.

Search itself leaves this to ripgrep; these rules serve to name what it left out. Pure: the text of ignore files in,
verdicts out.
"""

import re
from typing import NamedTuple

from worker.tools.globs import BadGlob, glob_regex

IGNORE_FILES = (".rgignore", ".ignore", ".gitignore")
"""The names of ignore files, the strongest first."""


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    ignores: bool
    only_folders: bool


class IgnoreFile:
    """The rules of one ignore file. Paths are relative to its folder, with `/` between their parts."""

    def __init__(self, text: str) -> None:
        rules = [_parse(line) for line in text.split("\n")]
        # The last rule that matches decides, so they are asked from the end.
        self._rules = [rule for rule in reversed(rules) if rule is not None]
        # Most paths match no rule at all: one expression for all of them says so at once.
        self._any = re.compile("|".join(f"(?:{rule.pattern.pattern})" for rule in self._rules), re.DOTALL)

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """True where `path` is ignored, False where it is expressly not, None where no rule speaks of it."""
        if not self._rules or self._any.fullmatch(path) is None:
            return None
        for rule in self._rules:
            if (is_folder or not rule.only_folders) and rule.pattern.fullmatch(path):
                return rule.ignores
        return None


def _parse(line: str) -> _Rule | None:
    line = line.removesuffix("\r")
    if line.startswith("#"):
        return None
    # Spaces at the end count only where they are escaped.
    stripped = line.rstrip(" ")
    if stripped.endswith("\\") and len(stripped) < len(line):
        stripped += " "
    ignores = not stripped.startswith("!")
    glob = stripped if ignores else stripped[1:]
    only_folders = glob.endswith("/")
    glob = glob.removesuffix("/")
    anchored = "/" in glob
    glob = glob.removeprefix("/")
    if not glob:
        return None
    try:
        source = glob_regex(glob if anchored or glob == "**" else f"**/{glob}")
        return _Rule(re.compile(source, re.DOTALL), ignores, only_folders)
    except (BadGlob, re.error):
        return None
