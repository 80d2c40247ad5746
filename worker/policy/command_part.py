"""One command of a shell text, and what may be asked of it: is it this command and no more, may it come to that one?

To allow, a command must be the one that a rule names, to the letter; to ask or deny it is enough that it may run it.
Pure; knows no shell and no rule.
"""

import re
from dataclasses import dataclass

# Programs that run what they are given: their words are looked at as if a command began at each of them.
_RUNNERS = frozenset(
    "sudo doas env nohup nice ionice timeout xargs exec command builtin setsid stdbuf watch find parallel su chroot"
    " script strace flock eval source . sh bash dash zsh ksh fish busybox ssh unshare systemd-run".split()
)

_WRITERS = frozenset(
    "rm mv cp tee dd install ln touch truncate chmod chown unlink rmdir mkdir patch shred rsync sponge ed ex".split()
)
_GIT_WRITERS = frozenset("checkout restore rm mv apply clean reset stash".split())


@dataclass(frozen=True)
class Part:
    """One command. A word is None where an expansion decides what it is.

    `reads` and `writes` are the files of its redirections. `is_bare` tells that it is its words alone: no variable is
    set for it, nothing is redirected into a file.
    """

    text: str
    words: tuple[str | None, ...]
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    is_bare: bool = True

    @property
    def changes_files(self) -> bool:
        """Whether it is a program that writes to the files that it is given, moves them or takes them away."""
        names = {_name(word) for word in (self.words if self.runs_others else self.words[:1])}
        if names & _WRITERS:
            return True
        edits_in_place = any(word is not None and re.match(r"-i|--in-place", word) for word in self.words)
        return edits_in_place or ("git" in names and bool(_GIT_WRITERS & set(self.words)))

    @property
    def runs_others(self) -> bool:
        """Whether it is a program that runs what its words say: `sudo`, `xargs`, `sh`."""
        return bool(self.words) and _name(self.words[0]) in _RUNNERS

    @property
    def is_hidden(self) -> bool:
        """Whether the program that runs can't be told from the text."""
        return bool(self.words) and (self.words[0] is None or (self.runs_others and None in self.words))

    def begins_with(self, prefix: tuple[str, ...]) -> bool:
        """Whether it is, to the letter, a command that begins with these words and is no more than its words."""
        return self.is_bare and self.words[: len(prefix)] == prefix

    def may_run(self, prefix: tuple[str, ...]) -> bool:
        """Whether it comes to such a command: options between its words, or another program that runs it, aside."""
        starts = range(len(self.words)) if self.runs_others else range(min(1, len(self.words)))
        return any(_follows(prefix, self.words[start:]) for start in starts)


def _name(word: str | None) -> str | None:
    return word if word is None else word.rsplit("/", 1)[-1]


def _follows(prefix: tuple[str, ...], words: tuple[str | None, ...]) -> bool:
    """Whether `prefix` stands at the beginning of `words`, options and their values between it left out."""
    if not words or _name(words[0]) != _name(prefix[0]):
        return False
    at = 1
    for wanted in prefix[1:]:
        after_option = False
        while at < len(words) and words[at] != wanted:
            word = words[at]
            if word is None and not after_option:
                break  # it may be anything, so it may be this
            is_option = word is not None and word.startswith("-")
            if not is_option and not after_option:
                return False
            after_option = is_option
            at += 1
        if at == len(words):
            return False
        at += 1
    return True
