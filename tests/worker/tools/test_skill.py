"""Contract. A skill is read by its name in the catalogue, and no name leads anywhere else."""

import os
from pathlib import Path

import pytest

from worker.tools.skill import Skill, SkillArguments, describe_skills, skill_tool
from worker.tools.tool import ToolAnswer
from worker.workspace import Workspace


def skill(folder: Path, name: str, text: str = "# How\n", description: str = "") -> Skill:
    path = folder / f"{name}.md"
    path.write_text(text)
    return Skill(name, description, os.fsencode(path))


async def read(folder: Path, name: str, *skills: Skill, max_output: int = 1_000) -> ToolAnswer:
    tool = skill_tool("read_skill", skills, max_output)
    return await tool.run(SkillArguments(name), Workspace(folder, folder))


def test_the_catalogue_is_sorted_and_stands_in_the_description(tmp_path: Path) -> None:
    skills = [skill(tmp_path, "release", description="How we release"), skill(tmp_path, "db")]
    assert describe_skills(skills).split("\n")[-2:] == ["  db", "  release — How we release"]
    for name in ("skill", "read_skill"):
        assert skill_tool(name, skills, 10).description == describe_skills(skills)


async def test_a_skill_is_its_whole_file_up_to_the_limit(tmp_path: Path) -> None:
    text = "---\ndescription: x\n---\n# How\n"
    one = skill(tmp_path, "release", text)
    assert await read(tmp_path, "release", one) == ToolAnswer(text)
    assert (await read(tmp_path, "release", one, max_output=3)).text.startswith("---\n[output truncated")


async def test_a_skill_that_is_a_folder_says_where_its_files_are_by_one_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("Run check.sh.\n")
    one = Skill("a", "", os.fsencode(tmp_path / "SKILL.md"))
    tool = skill_tool("skill", [one], 100)
    answer = await tool.run(SkillArguments("a"), Workspace(tmp_path, tmp_path))
    assert answer.text == f"Run check.sh.\n[Files that it names are in {tmp_path}.]"
    assert (await read(tmp_path, "a", one)).text == "Run check.sh.\n"


async def test_an_unknown_name_is_told_the_names_there_are(tmp_path: Path) -> None:
    skills = [skill(tmp_path, name) for name in "cab"]
    assert await read(tmp_path, "x", *skills) == ToolAnswer(
        'No skill named "x". Available skills: a, b, c', failed=True
    )
    assert (await read(tmp_path, "x")).text == 'No skill named "x". There are no skills here.'


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "..", "", "secret", "a/../../secret", "sub/../secret.md"]
)
async def test_no_name_leads_out_of_the_catalogue(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.md").write_text("hidden")
    (tmp_path / "in").mkdir()
    answer = await read(tmp_path, name, skill(tmp_path / "in", "a"))
    assert answer.failed
    assert "hidden" not in answer.text


@pytest.mark.parametrize("name", ["a", " a ", "a.md", "skills/a", "../a", "/x/a/"])
async def test_of_a_path_only_the_last_part_counts(tmp_path: Path, name: str) -> None:
    assert not (await read(tmp_path, name, skill(tmp_path, "a"))).failed


async def test_a_skill_that_vanished_is_told_so(tmp_path: Path) -> None:
    one = skill(tmp_path, "a")
    (tmp_path / "a.md").unlink()
    answer = await read(tmp_path, "a", one)
    assert answer.failed
    assert "The skill a does not exist" in answer.text


def test_a_title_is_the_tool_and_the_name(tmp_path: Path) -> None:
    assert skill_tool("read_skill", (), 1).title(SkillArguments("a\nb"), Workspace(tmp_path, tmp_path)) == (
        "read_skill: a b"
    )
