"""The person's own programs run in the foreground: an editor on a file, a merge tool in a folder.

They have the terminal, and Ctrl-C is theirs while they run. They get the person's environment, but for what would
point a git command of theirs at another repository.
"""

import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from merge.store.filters import read_config
from merge.store.git import parent_place
from merge.store.repository import Repository
from orchestrator.faults import UserError

# What git sets for its hooks and aliases: covey may have been started by one.
_PINS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX")


def editor_command(repository: Repository, environment: Mapping[str, str]) -> str:
    """The person's editor as a shell command: `$VISUAL`, `$EDITOR`, or what git was told to use.

    Raises:
        UserError: when none is named.
    """
    named = environment.get("VISUAL") or environment.get("EDITOR")
    named = named or read_config(parent_place(repository)).get("core.editor")
    if not named:
        raise UserError("No editor is named; set VISUAL or EDITOR, or choose sides with --ours and --theirs.")
    return named


def run_editor(command: str, file: Path, environment: Mapping[str, str]) -> int:
    """Open `file` and wait until the editor has ended; its exit status."""
    shell = shutil.which("sh") or "/bin/sh"
    # The command may have words of its own (`code --wait`), as for git: the shell takes it apart.
    return run_in_foreground([shell, "-c", f'{command} "$@"', command, str(file)], file.parent, environment)


def persons_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a program of the person's."""
    return {name: value for name, value in environment.items() if name not in _PINS}


def run_in_foreground(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> int:
    """Run a program that has the terminal until it ends; its exit status, negative for a signal.

    Raises:
        UserError: when it can't be started.
    """
    try:
        process = subprocess.Popen(words, cwd=folder, env=persons_environment(environment))
    except OSError as error:
        raise UserError(f"{words[0]} can't be started: {error.strerror}.") from error
    # Not before it has started: it would inherit that the signals are ignored.
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        return process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
