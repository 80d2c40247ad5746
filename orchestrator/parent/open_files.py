"""How many files this process may have open: as many as its children take, not the few that a login gives it."""

import resource

_WANTED = 8192
"""A child at work takes about eight: pipes, its process, locks, its checkout while that is made. A system gives 256
or 1,024 to a program that does not ask for more. Commands inherit it, and to none of them is it too many."""


def allow_many_open_files() -> None:
    """Raise the limit of this process as far as it is wanted and may be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED if hard == resource.RLIM_INFINITY else min(_WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
