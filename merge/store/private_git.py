"""Git directories of ours, laid out by hand: the one inside a checkout, and its twin that the child can't
reach.

Their objects are the parent's, borrowed. Of the parent's configuration they hold what decides how files are
read and written, with the values in force when they were made; never a remote, a credential, a hook, an
alias or an include. Layout: gitrepository-layout(5); configuration: git-config(1). Runs no git but to read.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from merge.store.conversion import attributes_of_person, is_named_by_git
from merge.store.filters import filters_without_program, neutral_settings, settings_to_run_in
from merge.store.git import GitPlace, quote_folder, run_git
from merge.store.repository import Repository
from merge.store.trees import ObjectId

_CORE = frozenset(
    (
        "attributesfile",
        "autocrlf",
        "bigfilethreshold",
        "checkroundtripencoding",
        "checkstat",
        "eol",
        "excludesfile",
        "filemode",
        "ignorecase",
        "longpaths",
        "precomposeunicode",
        "protecthfs",
        "protectntfs",
        "safecrlf",
        "sparsecheckout",
        "sparsecheckoutcone",
        "symlinks",
        "trustctime",
    )
)
_ID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LFS = frozenset(("fetchexclude", "fetchinclude", "skipdownloaderrors", "storage"))
_WHOLE_SECTIONS = ("user.", "filter.", "diff.", "merge.")

# No daemon, no background work, no prompt for a passphrase; one plain index file, which can be copied.
_FIXED = {
    "core.bare": "false",
    "core.fsmonitor": "false",
    "core.logallrefupdates": "true",
    "core.splitindex": "false",
    "index.sparse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "commit.gpgsign": "false",
    "tag.gpgsign": "false",
    "submodule.recurse": "false",
}


@dataclass(frozen=True)
class Inheritance:
    """What git directories of ours take over from the parent's repository, read once for both."""

    config: Mapping[str, str]
    objects: tuple[Path, ...]
    info: Mapping[str, bytes]
    shallow: bytes | None

    @property
    def is_sparse(self) -> bool:
        return self.config.get("core.sparsecheckout", "false").lower() in ("true", "yes", "on", "1")


def inherit(repository: Repository, config: Mapping[str, str], excludes: Iterable[str]) -> Inheritance:
    """Gather what our git directories take over; `excludes` are lines for their `info/exclude`."""
    info: dict[str, bytes] = {}
    for name, place in (
        ("exclude", repository.common_dir),
        ("attributes", repository.common_dir),
        ("sparse-checkout", repository.git_dir),
    ):
        content = _read_or_none(place / "info" / name)
        if content is not None:
            info[name] = content
    ours = "".join(f"{line}\n" for line in excludes).encode(errors="surrogateescape")
    theirs = info.get("exclude", b"")
    info["exclude"] = theirs + (b"\n" if theirs and not theirs.endswith(b"\n") else b"") + ours
    return Inheritance(
        _own_config(repository, config),
        tuple(object_folders(repository.common_dir / "objects")),
        info,
        _read_or_none(repository.common_dir / "shallow"),
    )


def twin_settings(repository: Repository, config: Mapping[str, str]) -> dict[str, str]:
    """What a twin's configuration has beyond `config`: it is the parent that acts there.

    The parent's filters run in the parent's folder: what they find beside them there, no child wrote. What
    git-lfs takes out of a file goes to the parent's store (a child has its own, and finds the parent's by itself).
    """
    settings = settings_to_run_in(repository.root, config)
    if (repository.common_dir / "lfs").is_dir() and "lfs.storage" not in config:
        settings["lfs.storage"] = str(repository.common_dir / "lfs")
    return settings


def lay_out(git_dir: Path, inheritance: Inheritance, *, head: str, packed_refs: bytes = b"") -> None:
    """Make the empty folder `git_dir` a git directory; `head` is the content of its HEAD."""
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks"):
        (git_dir / folder).mkdir(parents=True)
    (git_dir / "HEAD").write_bytes(os.fsencode(head + "\n"))
    write_config(git_dir, inheritance.config)
    borrowed = b"".join(quote_folder(os.fsencode(folder)) + b"\n" for folder in inheritance.objects)
    (git_dir / "objects/info/alternates").write_bytes(borrowed)
    for name, content in inheritance.info.items():
        (git_dir / "info" / name).write_bytes(content)
    if inheritance.shallow is not None:
        (git_dir / "shallow").write_bytes(inheritance.shallow)
    if packed_refs:
        (git_dir / "packed-refs").write_bytes(packed_refs)


def write_config(git_dir: Path, config: Mapping[str, str]) -> None:
    """Write the configuration file of a git directory of ours."""
    (git_dir / "config").write_bytes(_encode_config(config))


def set_branch(git_dir: Path, branch: str, commit: ObjectId) -> None:
    """Set `branch` of a git directory that nobody uses yet."""
    ref = git_dir / "refs/heads" / branch
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(f"{commit}\n")


_SHOWN_REFS = ("refs/heads", "refs/tags", "refs/remotes")


def refs_of(repository: Repository) -> bytes:
    """The parent's branches, tags and remote branches, as a packed-refs file, for a child to look at."""
    if (repository.common_dir / "reftable").exists():
        place = GitPlace(repository.common_dir, git_dir=repository.git_dir)
        return run_git(place, "for-each-ref", "--format=%(objectname) %(refname)", *_SHOWN_REFS).output
    # As files, which costs no process: gitrepository-layout(5).
    refs: dict[bytes, bytes] = {}
    for line in (_read_or_none(repository.common_dir / "packed-refs") or b"").splitlines():
        object_id, _, name = line.partition(b" ")
        if name.startswith(tuple(f"{shown}/".encode() for shown in _SHOWN_REFS)) and _ID.fullmatch(object_id):
            refs[name] = object_id
    for shown in _SHOWN_REFS:
        for folder, _, names in os.walk(os.fsencode(repository.common_dir / shown)):
            for name in names:
                path = folder + b"/" + name
                ref = os.path.relpath(path, os.fsencode(repository.common_dir))
                content = (_read_or_none(Path(os.fsdecode(path))) or b"").strip()
                if not name.endswith(b".lock"):
                    refs[ref] = content
    for name, content in list(refs.items()):
        while content.startswith(b"ref: "):
            content = refs.get(content.removeprefix(b"ref: ").strip(), b"")
        refs[name] = content
    lines = (b"%s %s\n" % (refs[name], name) for name in sorted(refs) if _ID.fullmatch(refs[name]))
    return b"".join(lines)


def object_folders(objects: Path, depth: int = 0) -> list[Path]:
    """A folder of objects and all that it borrows from, absolute, nearest first."""
    # Git follows borrowed folders five deep, and relative ones less: so each is named, none is left to be
    # found.
    found = [objects]
    borrowed = _read_or_none(objects / "info/alternates") or b""
    for line in borrowed.split(b"\n") if depth < 5 else ():
        if line and not line.startswith(b"#"):
            folder = objects / os.fsdecode(_unquote(line))
            found += object_folders(Path(os.path.normpath(folder)), depth + 1)
    return list(dict.fromkeys(found))


def _own_config(repository: Repository, config: Mapping[str, str]) -> dict[str, str]:
    ours = {key: value for key, value in config.items() if _is_inherited(key)}
    ours |= neutral_settings(filters_without_program(config))
    ours |= _FIXED
    if config.get("extensions.objectformat", "sha1") != "sha1":
        ours["extensions.objectformat"] = config["extensions.objectformat"]
    ours["core.repositoryformatversion"] = "1" if "extensions.objectformat" in ours else "0"
    if "core.hookspath" in config:
        ours["core.hookspath"] = os.devnull  # set for all repositories, it would reach this one too
    named = attributes_of_person(ours) if "core.attributesfile" in ours else None
    if named is not None and not is_named_by_git(ours):
        ours["core.attributesfile"] = str(
            repository.root / named
        )  # the person's, not what a child puts there
    if "lfs.storage" in ours:
        ours["lfs.storage"] = str(repository.common_dir / ours["lfs.storage"])
    return ours


def _is_inherited(key: str) -> bool:
    section, _, name = key.partition(".")
    return (
        key.startswith(_WHOLE_SECTIONS)
        or (section == "core" and name in _CORE)
        or (section == "lfs" and name in _LFS)
    )


def _encode_config(config: Mapping[str, str]) -> bytes:
    lines: list[str] = []
    for key, value in config.items():
        section, _, rest = key.partition(".")
        subsection, _, name = rest.rpartition(".")
        lines.append(f'[{section} "{_escape(subsection)}"]' if subsection else f"[{section}]")
        quoted = _escape(value).replace("\n", "\\n").replace("\t", "\\t").replace("\b", "\\b")
        lines.append(f'\t{name} = "{quoted}"')
    return "".join(f"{line}\n" for line in lines).encode(errors="surrogateescape")


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _unquote(line: bytes) -> bytes:
    if not line.startswith(b'"'):
        return line
    plain = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}

    def decode(found: re.Match[bytes]) -> bytes:
        word = found[1]
        return bytes([int(word, 8)]) if word.isdigit() else plain.get(word, word)

    return re.sub(rb"\\([0-7]{3}|.)", decode, line[1:].rpartition(b'"')[0])


def _read_or_none(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
