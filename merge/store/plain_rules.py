"""Where git stores files and writes them byte for byte: no setting, no attribute and no name has it do otherwise.

Asked of a few files of the person's working tree, with the attributes that are there: most repositories are such nearly
everywhere, and then no git has to run. Attribute files are searched for the words that matter, for whichever path, not
understood; whatever there is a doubt about is left for git. What is asked of a whole checkout, before there are files
in it, is `merge.checkouts.plain_bytes`'.
"""

import os
import re
import stat
from collections.abc import Collection, Iterable

from merge.store.repository import Repository
from merge.store.seen_config import Rules, read_rules
from merge.store.trees import RepoPath

LIMIT_BYTES = 8 << 20
"""Larger files are for git, which never holds a whole one in memory."""

# Attributes that change a file as it is written (gitattributes(5)); a macro is made of the same words. `eol=lf` and
# `text` alone change nothing here.
_CHANGING = re.compile(rb"filter|ident|eol(?!=lf\b)|crlf|encoding")

# Names that git might take for its own folder: `.git` in any case, `git~1`, and what some systems read as that.
_SUSPECT = re.compile(rb"\.git|git~", re.IGNORECASE)


def attributes_above(paths: Iterable[RepoPath]) -> set[RepoPath]:
    """Where git looks for the attributes of these paths: `.gitattributes` in each folder above them."""
    found = {RepoPath(b".gitattributes")}
    for path in paths:
        above = path.rpartition(b"/")[0]
        while above and (rule := RepoPath(above + b"/.gitattributes")) not in found:
            found.add(rule)
            above = above.rpartition(b"/")[0]
    return found


def rules_if_plain(
    repository: Repository, paths: Collection[RepoPath], rules: Rules | None = None
) -> Rules | None:
    """The rules in force, where neither names nor attributes of the working tree have git change these files.

    They are `rules`, where somebody has just read them. What settings do is in the answer. None is no, or perhaps not.

    Raises:
        GitFailed: when git can't read the configuration.
    """
    if any(map(_is_suspect, paths)):
        return None
    if os.path.lexists(repository.git_dir / "info" / "sparse-checkout"):
        return None  # attributes may be where no file is
    rules = rules or read_rules(repository)
    root = os.fsencode(repository.root)
    sources = [root + b"/" + path for path in attributes_above(paths)]
    sources += [os.fsencode(name) for name in rules.attributes]
    return None if any(map(_may_change_files, sources)) else rules


def _is_suspect(path: RepoPath) -> bool:
    # Some systems do not see all characters of a name; git knows which.
    return b"\\" in path or any(_SUSPECT.match(_ascii(name)) is not None for name in path.split(b"/"))


def _ascii(name: bytes) -> bytes:
    return name if name.isascii() else bytes(byte for byte in name if byte < 0x80)


def _may_change_files(source: bytes) -> bool:
    """Whether a file of attributes is there that may have git change a file as it writes or reads it."""
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return True
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return _CHANGING.search(file.read()) is not None
    except OSError:
        return True
    finally:
        os.close(descriptor)
