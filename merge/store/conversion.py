"""Where git makes something else of a file than what it stores: by which settings, and by which files of attributes.

A configuration is as `merge.store.filters.read_config` gives it. Only what git's manual calls usual counts as such;
whatever else a setting says is taken for a conversion. Pure but for the places that a machine and a home have.
"""

import os
from collections.abc import Iterator, Mapping

from merge.store.config_sources import home_folder, system_folders

_YES = frozenset(("true", "yes", "on", "1"))
_NO = frozenset(("", "false", "no", "off", "0"))

Config = Mapping[str, str]


def writes_as_stored(config: Config) -> bool:
    """Whether no setting has git write a file otherwise than it is stored. Attributes may all the same."""
    return (
        config.get("core.autocrlf", "").lower() in {*_NO, "input"}
        and config.get("core.eol", "lf").lower() in ("lf", "native")
        and config.get("core.symlinks", "true").lower() in _YES
        and "attr.tree" not in config
        and not is_named_by_git(config)
    )


def stores_as_it_stands(config: Config) -> bool:
    """Whether no setting has git store a file otherwise than it stands, if there is no carriage return in it."""
    return (
        writes_as_stored(config)
        and config.get("core.filemode", "true").lower() in _YES
        and config.get("core.ignorecase", "").lower() in _NO
        and config.get("core.precomposeunicode", "").lower() in _NO
    )


def converts_nothing(config: Config) -> bool:
    """Whether no setting has git write or store a file otherwise, whatever is in it."""
    return stores_as_it_stands(config) and config.get("core.autocrlf", "").lower() in _NO


def is_named_by_git(config: Config) -> bool:
    """Whether only git can tell which file of attributes a setting names: `%(prefix)/…`, `:(optional)…`."""
    return config.get("core.attributesfile", "").startswith(("%", ":"))


def attributes_of_person(config: Config) -> str | None:
    """The file that gives attributes in all of a person's repositories (gitattributes(5), "FILES"); it may not exist.

    A relative one is found from the top of a working tree. None where the person wants none.
    """
    named = config.get("core.attributesfile")
    if named is None:
        return str(home_folder() / "git" / "attributes")
    return os.path.expanduser(named) or None  # noqa: PTH111 (leaves a stranger's `~name` as it is)


def attributes_of_system() -> Iterator[str]:
    """Where a git of this machine may look for attributes that hold for everybody."""
    for folder in system_folders():
        yield str(folder / "gitattributes")
