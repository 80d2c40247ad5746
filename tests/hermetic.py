"""The environment that every test runs in: nothing of the person's settings, keys or locale reaches it.

What the person did set is kept in `THEIRS`, for the few tests that go out to the package registry as the
person would.
"""

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

THEIRS: Mapping[str, str] = dict(os.environ)
"""The environment that the test run was started in."""

_DROPPED = (
    "GIT_*",
    "COVEY_*",
    "*_API_KEY",
    "*_API_TOKEN",
    "*_AUTH_TOKEN",
    "*_BASE_URL",
    "OPENAI_*",
    "ANTHROPIC_*",
    "*_PROXY",  # a request to a server on loopback must not go elsewhere
    "*_proxy",
    "XDG_*",
    "LC_*",
    "LANGUAGE",
    "PYTHON*",  # above all DONTWRITEBYTECODE, with which every start of covey would compile it anew
    "EDITOR",
    "VISUAL",
    "PAGER",
    "LESS",
    "RIPGREP_CONFIG_PATH",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR*",
    "TMUX*",
    "MAKE*",  # a make below `make test` would tell which folders it enters
    "MFLAGS",
)

_WHEN = "2024-05-01T12:00:00+00:00"


def hermetic_environment(home: Path) -> dict[str, str]:
    """The environment for a run whose `HOME` is `home`."""
    kept = {
        name: value
        for name, value in THEIRS.items()
        if not any(fnmatchcase(name, pattern) for pattern in _DROPPED)
    }
    return kept | {
        "HOME": str(home),
        "TMPDIR": str(home.parent / "tmp"),
        "COVEY_HOME": str(home / ".covey"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "xterm-256color",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": "Ada Author",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_AUTHOR_DATE": _WHEN,
        "GIT_COMMITTER_NAME": "Cy Committer",
        "GIT_COMMITTER_EMAIL": "cy@example.org",
        "GIT_COMMITTER_DATE": _WHEN,
    }
