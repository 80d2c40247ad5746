"""Clean and smudge filters that the person has configured (git-lfs, nbstripout, …) and whose program fails.

Git gives up on the first file whose filter can't run: `git status` too. A filter is then taken out of one
command, by configuration (`neutral_switches`): a file counts as it stands, for git-lfs the pointer, and the
reader is told.
"""

import re
import shlex
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from merge.store.git import GitPlace, ask_git, run_git
from merge.store.trees import RepoPath

_FILTER_KEY = re.compile(r"filter\.(?P<name>.+)\.(?:clean|smudge|process)", re.DOTALL)


def read_config(place: GitPlace) -> dict[str, str]:
    """The configuration in force, by key (section and name in lower case); of several values the last."""
    fields = run_git(place, "config", "--list", "-z", "--show-scope").fields()
    config: dict[str, str] = {}
    for scope, field in zip(fields[0::2], fields[1::2], strict=True):
        key, has_value, value = field.decode(errors="surrogateescape").partition("\n")
        if scope != b"command":  # what covey itself tells every git command is not the person's
            config[key] = value if has_value else "true"
    return config


def configured_filters(config: Mapping[str, str]) -> tuple[str, ...]:
    """The names of all filters."""
    found = (_FILTER_KEY.fullmatch(key) for key in config)
    return tuple(dict.fromkeys(match["name"] for match in found if match is not None))


def filters_without_program(config: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the filters whose program is not on this machine, as far as its command line tells."""
    missing: list[str] = []
    for key, command in config.items():
        match = _FILTER_KEY.fullmatch(key)
        if match is not None and match["name"] not in missing and _lacks_program(command):
            missing.append(match["name"])
    return tuple(missing)


def neutral_settings(filters: Iterable[str]) -> dict[str, str]:
    """The configuration, by key, with which git leaves the files of these filters as they are."""
    return {
        f"filter.{name}.{part}": value
        for name in filters
        for part, value in (("process", ""), ("clean", ""), ("smudge", ""), ("required", "false"))
    }


def neutral_switches(filters: Iterable[str]) -> tuple[str, ...]:
    """`neutral_settings` as switches of one command."""
    return tuple(f"{key}={value}" for key, value in neutral_settings(filters).items())


def settings_to_run_in(folder: Path, config: Mapping[str, str]) -> dict[str, str]:
    """The settings, by key, with which every filter runs in `folder` and not at the top of the working tree.

    There a child decides what `tools/clean.sh`, or `python -m nbstripout`, means.
    """
    settings: dict[str, str] = {}
    for key, command in config.items():
        match = _FILTER_KEY.fullmatch(key)
        if match is not None and command.strip():
            place = shlex.quote(str(folder))
            if not key.endswith(".process"):
                place = place.replace("%", "%%")  # git puts a path in for `%f`, but not in a `process`
            settings[key] = f"cd {place} || exit 1; {command}"
    return settings


def filters_of(place: GitPlace, paths: Iterable[RepoPath]) -> dict[RepoPath, str]:
    """The name of the filter that the attributes give each path; a path without one is not in the answer."""
    feed = b"".join(path + b"\0" for path in paths)
    if not feed:
        return {}
    fields = ask_git(place, "check-attr", "-z", "--stdin", "filter", feed=feed).fields()
    triples = zip(fields[0::3], fields[2::3], strict=True)
    return {
        RepoPath(path): value.decode(errors="surrogateescape")
        for path, value in triples
        if value not in (b"unspecified", b"unset", b"set")
    }


# Words that the shell knows by itself.
_SHELL_WORDS = frozenset(
    (".", "[", "cd", "command", "echo", "eval", "exec", "export", "printf", "read", "test")
)


def _lacks_program(command: str) -> bool:
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if not words or words[0] in _SHELL_WORDS:
        return False
    # Only a plain first word tells: `FOO=1 program`, `tools/program` and the like are for the shell to find.
    return re.fullmatch(r"[\w.+-]+|/[\w./+-]+", words[0]) is not None and shutil.which(words[0]) is None
