"""What the person's git configuration says of how files are written, kept in the git directory while it holds.

Only facts are kept, no values that a person may have secrets in. What tells whether they hold is in
`merge.store.config_sources`.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from merge.store.config_sources import Sources, read_config_and_sources
from merge.store.conversion import (
    Config,
    attributes_of_person,
    attributes_of_system,
    stores_as_it_stands,
    writes_as_stored,
)
from merge.store.repository import Repository


class Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether no setting has git write a file otherwise than it is stored, nor store it otherwise than it stands.

    The second holds for files without a carriage return. Attributes may do so all the same: those may be in
    `attributes`, files beside the `.gitattributes` of the working tree, of which some may not exist. `within` are
    paths of the working tree where settings or attributes are, or would be, because some setting or link leads there.
    """

    written_as_stored: bool
    stored_as_it_stands: bool
    attributes: tuple[str, ...]
    within: tuple[str, ...]


class _Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sources: Sources
    rules: Rules


def read_rules(repository: Repository) -> Rules:
    """The rules in force now.

    Raises:
        GitFailed: when git can't read the configuration.
    """
    file = repository.common_dir.joinpath(f"covey/rules-{repository.git_dir.name}.json")
    try:
        kept = msgspec.json.decode(file.read_bytes(), type=_Kept)
    except (OSError, msgspec.MsgspecError):
        kept = None
    if kept is not None and kept.sources.are_unchanged(repository):
        return kept.rules
    config, sources = read_config_and_sources(repository)
    attributes = tuple(_attribute_files(repository, config))
    within = tuple(_within(repository, (*sources.marks, *attributes)))
    rules = Rules(writes_as_stored(config), stores_as_it_stands(config), attributes, within)
    if sources.are_settled:
        _keep(file, _Kept(sources, rules))
    return rules


def _keep(file: Path, kept: _Kept) -> None:
    unfinished = file.with_name(f"{file.name}.new")
    try:
        file.parent.mkdir(exist_ok=True)
        unfinished.write_bytes(msgspec.json.encode(kept))
        unfinished.replace(file)
    except (OSError, UnicodeEncodeError):
        with contextlib.suppress(OSError):  # it is read again next time
            unfinished.unlink()


def _attribute_files(repository: Repository, config: Config) -> Iterator[str]:
    """Where attributes may be beside the `.gitattributes` of the working tree (gitattributes(5), "FILES")."""
    yield str(repository.common_dir / "info" / "attributes")
    named = attributes_of_person(config)
    if named is not None:
        yield str(repository.root / named)
    yield from attributes_of_system()


def _within(repository: Repository, files: Iterable[str]) -> Iterator[str]:
    root = os.path.realpath(repository.root) + "/"
    for file in files:
        path = os.path.realpath(file)
        if path.startswith(root) and not path.startswith(f"{root}.git/"):
            yield path.removeprefix(root)
