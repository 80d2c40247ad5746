"""Skill files: how a kind of work is done, written down once under a name, for parent and children to read.

A skill is `<name>.md` or `<name>/SKILL.md` in one of a few folders, read once when a session opens, for its description
alone. A file that can't be read is named and left out; it never stops a session. Knows no tool.
"""

import os
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from orchestrator.config.home import covey_home
from orchestrator.terms.front_matter import FrontMatterBroken, read_front_matter
from worker.path_text import quote_path
from worker.tools.skill import FOLDER_FILE, LIMIT_BYTES, Skill

_TOLD_CHARACTERS = 300
"""How much of a description is told: it is in every request of the session."""

_MOST_SKILLS = 200

_HEAD_BYTES = 64 * 1024


class SkillFiles(msgspec.Struct, frozen=True):
    """The skills that a session knows, sorted by name, and sentences about files that are wrong."""

    skills: tuple[Skill, ...] = ()
    faults: tuple[str, ...] = ()


def skill_folders(workspace: Path, environment: Mapping[str, str], named: str | None = None) -> list[Path]:
    """Where skills are looked for; of two with one name the first counts. `named` is the person's `skills_dir`."""
    folders = [
        *([workspace / Path(named).expanduser()] if named else []),
        workspace / ".covey" / "skills",
        workspace / ".claude" / "skills",
        covey_home(environment) / "skills",
        Path.home() / ".claude" / "skills",
    ]
    return list(dict.fromkeys(folder.resolve() for folder in folders))  # a home folder may be the workspace


def read_skills(folders: Iterable[Path]) -> SkillFiles:
    """Read the heads of all skills in `folders`. Whatever is wrong with one is told in `faults`."""
    skills: dict[str, Skill] = {}
    faults: list[str] = []
    for folder in folders:
        for name, path in _files_in(folder, faults):
            if name in skills:
                continue
            try:
                skills[name] = Skill(name, _description(path), os.fsencode(path))
            except FrontMatterBroken as broken:
                faults.append(
                    f"{quote_path(str(path))}, line {broken.line}: {broken.reason}; this skill is left out."
                )
            except OSError as error:
                faults.append(
                    f"{quote_path(str(path))} can't be read ({error.strerror or error}); this skill is left out."
                )
    known = sorted(skills.values(), key=lambda skill: skill.name)
    if len(known) > _MOST_SKILLS:
        faults.append(
            f"There are {len(known)} skills; the first {_MOST_SKILLS} by name are told to the model."
        )
    return SkillFiles(tuple(known[:_MOST_SKILLS]), tuple(faults))


def _files_in(folder: Path, faults: list[str]) -> list[tuple[str, Path]]:
    """The skills of one folder by name, flat files before folders."""
    try:
        names = sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        faults.append(
            f"{quote_path(str(folder))} can't be listed ({error.strerror}); its skills are left out."
        )
        return []
    shown = [name for name in names if not name.startswith(".") and name.isprintable()]
    flat = [(name[:-3], folder / name) for name in shown if name.endswith(".md") and name != ".md"]
    within = [(name, folder / name / FOLDER_FILE) for name in shown]
    return [*flat, *((name, path) for name, path in within if os.path.lexists(path))]


def _description(path: Path) -> str:
    """What the head of a skill says it is for; without one, its first line.

    Raises:
        FrontMatterBroken: when its head can't be read, or it is no text file.
        OSError: when it can't be read.
    """
    found = path.stat()
    # Anything but a file, a pipe above all, could keep the session from ever starting.
    if not stat.S_ISREG(found.st_mode):
        raise FrontMatterBroken(1, "it is no file")
    if found.st_size > LIMIT_BYTES:
        raise FrontMatterBroken(1, f"the file holds {found.st_size:,} bytes, more than {LIMIT_BYTES:,}")
    with path.open("rb") as file:
        data = file.read(_HEAD_BYTES)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if error.start < len(data) - 3 or len(data) < _HEAD_BYTES:
            raise FrontMatterBroken(data.count(b"\n", 0, error.start) + 1, "it is not UTF-8") from None
        text = data[: error.start].decode()  # cut inside a character
    if not text.removeprefix("\ufeff").startswith("---"):
        return _short(next((line for line in text.splitlines() if line.strip()), "").lstrip("\ufeff# "))
    field = read_front_matter(text).fields.get("description")
    if field is not None and not isinstance(field.value, str):
        raise FrontMatterBroken(field.line, "description is a text, not a list or a table")
    return _short(field.value if field is not None and isinstance(field.value, str) else "")


def _short(text: str) -> str:
    one_line = re.sub(r"\s+", " ", text.replace("\\n", " ")).strip()
    return one_line if len(one_line) <= _TOLD_CHARACTERS else one_line[: _TOLD_CHARACTERS - 1].rstrip() + "…"
