"""Contract. Modules are listed with who turned them on or off, and switched without losing a byte of the file."""

from pathlib import Path

import msgspec
import pytest

from orchestrator.cli import run
from orchestrator.config.tables import Configuration, ModulesTable
from orchestrator.terms.modules import ModuleRow, switch_module, withheld_tools
from tests.conftest import RepositoryOf

FILE = """\
# mine
[endpoint]
url = "http://x"  # here

[modules]
skills = true   # for now
"""


@pytest.fixture
def file(covey_home: Path) -> Path:
    covey_home.mkdir(parents=True)
    path = covey_home / "config.toml"
    path.write_text(FILE)
    return path


def test_a_module_that_is_off_withholds_its_tools() -> None:
    assert withheld_tools(Configuration()) == frozenset()
    off = Configuration(modules=ModulesTable(task=False, skills=False))
    assert withheld_tools(off) == {"task", "skill", "read_skill"}


def test_a_switch_changes_its_own_line_only(file: Path) -> None:
    switch_module(file, "skills", on=False)
    assert file.read_text() == FILE.replace("skills = true ", "skills = false ")
    switch_module(file, "jobs", on=False)
    assert file.read_text() == FILE.replace("skills = true ", "skills = false ") + "jobs = false\n"


def test_a_switch_makes_the_file(covey_home: Path) -> None:
    switch_module(covey_home / "config.toml", "jobs", on=False)
    assert (covey_home / "config.toml").read_text() == "[modules]\njobs = false\n"


def test_modules_are_listed_with_who_says_so(
    file: Path,
    repository_of: RepositoryOf,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    repository = repository_of("python_package")
    (repository / ".covey").mkdir()
    workspace = repository / ".covey" / "config.toml"
    workspace.write_text("[modules]\njobs = false\n")
    monkeypatch.chdir(repository)
    assert run(["modules", "task", "off"]) == 0
    assert "It counts from the next start of a session." in capsys.readouterr().out
    assert run(["modules", "--json"]) == 0
    rows = {
        row.name: (row.on, row.where)
        for row in msgspec.json.decode(capsys.readouterr().out, type=list[ModuleRow])
    }
    assert rows == {
        "task": (False, f"{file}, line 7"),
        "agents": (True, ""),
        "jobs": (False, f"{workspace}, line 2"),
        "skills": (True, f"{file}, line 6"),
    }
    workspace.write_text("[modules]\njobs = false\ntask = true\n")
    assert run(["modules"]) == 1
    assert f"{workspace}, line 3: a workspace may only turn off modules.task" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["modules", "skils", "off"], "There is no module 'skils'; did you mean skills?"),
        (["modules", "skills"], "What of skills? Say on or off"),
    ],
)
def test_what_can_t_be_switched(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 1
    assert says in capsys.readouterr().err


def test_a_file_with_a_fault_in_it_is_not_written_to(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("[endpoint\n")
    assert run(["modules", "jobs", "off"]) == 1
    assert file.read_text() == "[endpoint\n"
