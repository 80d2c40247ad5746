"""Contract. Skill files as people keep them: flat or in a folder, with or without a head; what is wrong is named."""

import os
from pathlib import Path

import pytest

from orchestrator.terms.skills import read_skills, skill_folders


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_flat_files_and_folders_are_skills_sorted_by_name(tmp_path: Path) -> None:
    write(tmp_path / "release.md", "---\nname: other\ndescription: How we\n  release\n---\nDo it.\n")
    write(tmp_path / "db" / "SKILL.md", '---\ndescription: "The database"\n---\nx')
    write(tmp_path / "plain.md", "\n# A plain one\n\ntext\n")
    write(tmp_path / "bare" / "SKILL.md", "---\nname: bare\n---\nx")
    write(tmp_path / "no-skill" / "README.md", "x")
    write(tmp_path / ".hidden.md", "x")
    write(tmp_path / "notes.txt", "x")
    found = read_skills([tmp_path])
    assert found.faults == ()
    assert [(skill.name, skill.description) for skill in found.skills] == [
        ("bare", ""),
        ("db", "The database"),
        ("plain", "A plain one"),
        ("release", "How we release"),
    ]
    assert [Path(os.fsdecode(skill.path)).name for skill in found.skills] == [
        "SKILL.md",
        "SKILL.md",
        "plain.md",
        "release.md",
    ]


def test_a_flat_file_goes_before_a_folder_and_the_first_folder_before_the_next(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    write(first / "a" / "SKILL.md", "in a folder")
    flat = write(first / "a.md", "flat")
    write(second / "a.md", "later")
    (skill,) = read_skills([first, second]).skills
    assert skill.path == os.fsencode(flat)
    assert skill.description == "flat"


BAD: dict[str, tuple[bytes, str]] = {
    "no end of the head": (b"---\ndescription: x\n", "line 1: no second line ---"),
    "a list": (b"---\ndescription: [a]\n---\n", "line 2: description is a text"),
    "not UTF-8": (b"# Caf\xe9 au lait, and more\n", "line 1: it is not UTF-8"),
    "too large": (b"x" * 1_000_001, "more than 1,000,000"),
}


@pytest.mark.parametrize("how", BAD)
def test_a_bad_file_is_named_and_left_out(tmp_path: Path, how: str) -> None:
    data, says = BAD[how]
    write(tmp_path / "bad.md", data)
    write(tmp_path / "good.md", "fine")
    found = read_skills([tmp_path])
    assert [skill.name for skill in found.skills] == ["good"]
    (fault,) = found.faults
    assert says in fault
    assert "bad.md" in fault
    assert fault.endswith("this skill is left out.")


def test_what_is_no_file_never_holds_a_session_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.md").mkdir()
    found = read_skills([tmp_path, tmp_path / "no-folder"])
    assert found.skills == ()
    assert len(found.faults) == 3


def test_a_description_is_one_line_and_not_a_book(tmp_path: Path) -> None:
    write(tmp_path / "a.md", f"---\ndescription: |\n  one\n  {'word ' * 200}\n---\n")
    (skill,) = read_skills([tmp_path]).skills
    assert skill.description.startswith("one word")
    assert len(skill.description) <= 300
    assert skill.description.endswith("…")


def test_the_folders_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    home, root = tmp_path / "home", tmp_path / "w"
    assert skill_folders(root, {}, "lore") == [
        root / "lore",
        root / ".covey" / "skills",
        root / ".claude" / "skills",
        home / ".covey" / "skills",
        home / ".claude" / "skills",
    ]
    assert skill_folders(root, {}, "~/lore")[0] == home / "lore"
    assert skill_folders(home, {})[0] == home / ".covey" / "skills"
    assert len(skill_folders(home, {})) == 2
