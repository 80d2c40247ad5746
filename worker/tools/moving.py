"""Gives a file or folder another path, and never overwrites: the new name is claimed before anything moves.

Where a rename can't do it (another file system, a folder of a layer below an overlay) the thing is copied and then
removed. Paths here are real ones that the caller may write. Knows no tool.
"""

import errno
import os
import shutil
import stat
from pathlib import Path

from worker.tools.placing import Undo, claim, make_folders, temporary_beside
from worker.tools.refusals import system_refusal


def move(source: Path, target: Path, shown: str) -> None:
    """Give what stands at `source` (a file, a folder, a link itself) the path `target`, told as `shown`.

    Raises:
        ToolRefused: when something stands at `target`, or the system refuses. Then nothing has moved.
    """
    undo = Undo()
    try:
        is_folder = stat.S_ISDIR(source.lstat().st_mode)
        make_folders(target.parent, undo)
        if not _is_other_case(source, target):
            claim(target, shown, undo, folder=is_folder)
        try:
            # A rename over what was just claimed is atomic, and can't take away a file made in between.
            source.rename(target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _carry_folder(source, target) if is_folder else _carry_file(source, target)
    except OSError as error:
        undo.run()
        raise system_refusal(error, shown) from None
    except BaseException:
        undo.run()
        raise


def _is_other_case(source: Path, target: Path) -> bool:
    """Whether `target` is `source` itself in other letters, on a file system that ignores case."""
    if (
        source.parent != target.parent
        or source.name.lower() != target.name.lower()
        or source.name == target.name
    ):
        return False
    return os.path.lexists(target) and os.path.samestat(source.lstat(), target.lstat())


def _carry_folder(source: Path, target: Path) -> None:
    try:
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    # All of it stands at the target now: what can't be removed of the source stays, and nothing is lost.
    shutil.rmtree(source)


def _carry_file(source: Path, target: Path) -> None:
    copy = temporary_beside(target)
    try:
        shutil.copy2(source, copy, follow_symlinks=False)
        copy.replace(target)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise
    source.unlink()
