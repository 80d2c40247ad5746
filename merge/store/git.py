"""The door to git's own commands: every one of them runs through GitPython, here.

A command of ours never opens an editor, a pager or a prompt, never runs a hook, never takes an optional
lock, and sees none of the `GIT_*` variables that a calling git (a hook, `git rebase --exec`) may have left
in the environment. It runs in a session of its own: Ctrl-C at the terminal is the parent's affair, and there
is no terminal to ask for a password on. All functions here block; an async caller puts them in a thread.
"""

import contextlib
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from git.cmd import Git
from git.exc import GitCommandNotFound

from merge.store.repository import Repository

_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GCM_INTERACTIVE": "never",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_MERGE_AUTOEDIT": "no",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
}

_SWITCHES = (
    "--no-pager",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "advice.detachedHead=false",
    "-c",
    "core.quotePath=false",
    "-c",
    "diff.orderFile=/dev/null",  # one that is not there ends even `git status`
)

# What git itself lists as local to a repository (`git rev-parse --local-env-vars`), and what changes its
# answers.
_POISON = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DEFAULT_HASH",
    "GIT_DIFF_OPTS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INDEX_VERSION",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_TEMPLATE_DIR",
    "GIT_WORK_TREE",
)

# What a person has git tell of itself, between the words that are read here.
_CHATTER = ("GIT_TRACE", "GIT_CURL_VERBOSE")


class GitFailed(Exception):
    """Raised when a git command that had to succeed did not. `str()` is git's own last words and the
    command."""

    def __init__(self, command: Sequence[str], status: int, error: str) -> None:
        self.command = tuple(command)
        self.status = status
        self.error = error
        super().__init__(f"git {' '.join(command)} ended with {status}: {error.strip() or 'no message'}")


@dataclass(frozen=True)
class GitAnswer:
    """What a git command gave: its exit status, its standard output as bytes, its standard error as text."""

    status: int
    output: bytes
    error: str

    def fields(self) -> list[bytes]:
        """The output of a `-z` command, split at its NULs."""
        return self.output.split(b"\0")[:-1] if self.output else []

    def line(self) -> str:
        """The output as one line of text, without its newline."""
        return os.fsdecode(self.output.removesuffix(b"\n"))


@dataclass(frozen=True)
class GitPlace:
    """Where a git command runs: the folder, and the repository parts it is pinned to.

    With `git_dir` the command sees that repository and no other, whatever the folder holds. `objects` is
    where it reads and writes objects, if not in there; `borrows` is one more folder that it reads objects from.
    `index` is a private index file. `switches` are more `-c name=value` pairs.
    """

    folder: Path
    git_dir: Path | None = None
    work_tree: Path | None = None
    index: Path | None = None
    objects: Path | None = None
    borrows: Path | None = None
    switches: tuple[str, ...] = field(default=())

    def environment(self) -> dict[str, str]:
        pinned = {
            "GIT_DIR": self.git_dir,
            "GIT_WORK_TREE": self.work_tree,
            "GIT_INDEX_FILE": self.index,
            "GIT_OBJECT_DIRECTORY": self.objects,
        }
        words = {name: str(value) for name, value in pinned.items() if value is not None}
        if self.borrows is not None:
            words["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = os.fsdecode(quote_folder(os.fsencode(self.borrows)))
        return words


def parent_place(repository: Repository) -> GitPlace:
    """Where git commands about the parent's own folder run."""
    return GitPlace(repository.root, git_dir=repository.git_dir, work_tree=repository.root)


def quote_folder(folder: bytes) -> bytes:
    """A folder of objects as git reads it in `info/alternates`: in C quotes where it must be."""
    if not folder.startswith((b"#", b'"')) and not set(folder) & set(b"\n:"):
        return folder
    return b'"' + re.sub(rb'[\\"\n]', lambda found: b"\\%03o" % found[0][0], folder) + b'"'


def ask_git(
    place: GitPlace,
    *arguments: str,
    feed: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> GitAnswer:
    """Run `git ARGUMENTS` with `feed` on its standard input and return its answer, whatever its exit status.

    Raises:
        GitFailed: when git itself cannot be started.
    """
    if not place.folder.is_dir():
        # GitPython would run the command wherever this process happens to be.
        raise GitFailed(arguments, -1, f"{place.folder} is not a folder")
    ours = {**_QUIET, **_locale(), **place.environment(), **(environment or {})}
    command = [*_without_poison(ours), "git", *_SWITCHES]
    for switch in place.switches:
        command += ["-c", switch]
    command += arguments
    try:
        with contextlib.ExitStack() as stack:
            feed_file = None
            if feed:
                feed_file = stack.enter_context(tempfile.TemporaryFile())
                feed_file.write(feed)
                feed_file.seek(0)
            # The overloads know neither the bytes of stdout_as_string=False nor the session.
            status, output, error = cast(
                "tuple[int, bytes, bytes | str]",
                Git(place.folder).execute(
                    command,
                    istream=feed_file,
                    with_extended_output=True,
                    with_exceptions=False,
                    stdout_as_string=False,
                    strip_newline_in_stdout=False,
                    env=ours,
                    start_new_session=True,
                ),
            )
    except (GitCommandNotFound, OSError) as fault:
        raise GitFailed(arguments, -1, str(fault)) from fault
    return GitAnswer(status, output, error if isinstance(error, str) else os.fsdecode(error))


def run_git(
    place: GitPlace,
    *arguments: str,
    feed: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> GitAnswer:
    """Like `ask_git`, for a command that must succeed.

    Raises:
        GitFailed: on any exit status but 0.
    """
    answer = ask_git(place, *arguments, feed=feed, environment=environment)
    if answer.status != 0:
        raise GitFailed(arguments, answer.status, answer.error)
    return answer


def _locale() -> dict[str, str]:
    """English messages, and the person's own characters: a filter must answer here as it does for them."""
    # GitPython sets LC_ALL=C, under which a filter that reads text may give other bytes than `git add` does.
    found = {name: os.environ.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG")}
    characters = found["LC_ALL"] or found["LC_CTYPE"] or found["LANG"]
    return {"LC_ALL": "", "LC_CTYPE": characters, "LC_MESSAGES": "C", "LANGUAGE": "C"}


def _without_poison(ours: Mapping[str, str]) -> list[str]:
    """`env -u NAME …` when the environment holds a variable that would mislead git, else nothing."""
    # GitPython copies os.environ and can add to it, never take away; one more exec costs about a millisecond.
    present = [name for name in _POISON if name in os.environ and name not in ours]
    present += [name for name in os.environ if name.startswith(_CHATTER)]
    return ["env", *(word for name in present for word in ("-u", name))] if present else []
