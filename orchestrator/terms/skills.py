"""Skill files: how a kind of work is done, written down once under a name, for parent and children to read.

A skill is `<name>.md` or `<name>/SKILL.md` in one of a few folders, read once when a session opens, for its description
alone. A file that can't be read is named and left out; it never stops a session. Knows no tool.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from orchestrator.terms.front_matter import read_front_matter
from orchestrator.terms.taught_files import (
    folders_of,
    left_out_if_broken,
    names_in,
    one_line,
    read_text,
    shortened,
)
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
    first = [workspace / Path(named).expanduser()] if named else []
    return folders_of("skill", workspace, environment, *first)


def read_skills(folders: Iterable[Path]) -> SkillFiles:
    """Read the heads of all skills in `folders`. Whatever is wrong with one is told in `faults`."""
    skills: dict[str, Skill] = {}
    faults: list[str] = []
    for folder in folders:
        for name, path in _files_in(folder, faults):
            if name in skills:
                continue
            with left_out_if_broken(path, "skill", faults):
                skills[name] = Skill(name, _description(path), os.fsencode(path))
    known = sorted(skills.values(), key=lambda skill: skill.name)
    if len(known) > _MOST_SKILLS:
        faults.append(
            f"There are {len(known)} skills; the first {_MOST_SKILLS} by name are told to the model."
        )
    return SkillFiles(tuple(known[:_MOST_SKILLS]), tuple(faults))


def _files_in(folder: Path, faults: list[str]) -> list[tuple[str, Path]]:
    """The skills of one folder by name, flat files before folders."""
    shown = [name for name in names_in(folder, "skill", faults) if name.isprintable()]
    flat = [(name[:-3], folder / name) for name in shown if name.endswith(".md")]
    within = [(name, folder / name / FOLDER_FILE) for name in shown]
    return [*flat, *((name, path) for name, path in within if os.path.lexists(path))]


def _description(path: Path) -> str:
    """What the head of a skill says it is for; without one, its first line.

    Raises:
        FrontMatterBroken: when its head can't be read, or it is no text file.
        OSError: when it can't be read.
    """
    text = read_text(path, limit_bytes=LIMIT_BYTES, begin_bytes=_HEAD_BYTES)
    if text.removeprefix("\ufeff").startswith("---"):
        said = one_line(read_front_matter(text), "description")
    else:
        first = next((line for line in text.splitlines() if line.strip()), "")
        said = " ".join(first.lstrip("\ufeff# ").split())
    return shortened(said, _TOLD_CHARACTERS)
