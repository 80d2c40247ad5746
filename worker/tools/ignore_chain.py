"""All the ignore files that speak of one folder, and what they say together, as ripgrep weighs them.

Of each kind of file the nearest one that has an opinion decides, and a stronger kind outweighs a weaker one. What git
reads ends at the root of a repository. Reads ignore files; knows no walk.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from worker.tools.ignore_rules import IGNORE_FILES, IgnoreFile

_GITIGNORE = IGNORE_FILES.index(".gitignore")
_EXCLUDE = len(IGNORE_FILES)
_LARGEST_BYTES = 1_000_000


@dataclass(frozen=True)
class IgnoreChain:
    """The ignore files above a folder and in it, each with the folder it stands in: of each kind the nearest first."""

    kinds: tuple[tuple[tuple[str, IgnoreFile], ...], ...] = ((),) * (_EXCLUDE + 1)

    @property
    def speaks(self) -> bool:
        """Whether there is an ignore file at all."""
        return any(self.kinds)

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether the entry with this absolute path, in the chain's folder, is ignored."""
        for kind in self.kinds:
            for folder, file in kind:
                verdict = file.verdict(path[len(folder) + 1 :], is_folder=is_folder)
                if verdict is not None:
                    return verdict
        return False

    def below(self, folder: str, names: set[str]) -> "IgnoreChain":
        """The chain for `folder`, whose entries have these names and which stands in this chain's folder."""
        kinds = list(self.kinds)
        if ".git" in names:
            kinds[_GITIGNORE] = ()
            exclude = _read(_exclude_file(Path(folder)))
            kinds[_EXCLUDE] = ((folder, exclude),) if exclude else ()
        for kind, name in enumerate(IGNORE_FILES):
            if name in names and (file := _read(Path(f"{folder}/{name}"))):
                kinds[kind] = ((folder, file), *kinds[kind])
        return self if tuple(kinds) == self.kinds else IgnoreChain(tuple(kinds))


def chain_above(folder: str) -> IgnoreChain:
    """What is written above `folder` that holds in it, from the root of its repository down."""
    chain = IgnoreChain()
    top = repository_of(folder)
    if top is None or top == folder:
        return chain
    for above in reversed(Path(folder).parents):
        if above.is_relative_to(top):
            names = {name for name in (".git", *IGNORE_FILES) if os.path.lexists(above / name)}
            chain = chain.below(str(above).rstrip("/"), names)
    return chain


def repository_of(folder: str) -> str | None:
    """The nearest folder, `folder` itself or above it, that holds a `.git`; None where there is none."""
    above = (Path(folder), *Path(folder).parents)
    return next((str(one) for one in above if os.path.lexists(one / ".git")), None)


def _exclude_file(top: Path) -> Path:
    git = top / ".git"
    if git.is_file():
        # A linked worktree: "gitdir: PATH", and there the path of the repository that it belongs to.
        with suppress(OSError):
            git = top / git.read_text("utf-8", "surrogateescape").strip().removeprefix("gitdir: ")
            git = git / (git / "commondir").read_text("utf-8", "surrogateescape").strip()
    return git / "info" / "exclude"


def _read(path: Path) -> IgnoreFile | None:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_BYTES:
            return None
        return IgnoreFile(path.read_text("utf-8", "surrogateescape"))
    except OSError:
        return None
