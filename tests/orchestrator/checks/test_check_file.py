"""Contract. Which checks a project has, from its `.covey/check.toml`."""

from pathlib import Path

import pytest

from orchestrator.checks.check_file import Check, read_checks
from orchestrator.faults import UserError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / ".covey").mkdir()
    return tmp_path / ".covey" / "check.toml"


def test_no_file_no_check(tmp_path: Path) -> None:
    assert read_checks(tmp_path) == {}


def test_checks_keep_their_order(file: Path) -> None:
    file.write_text(
        '[check.tests]\ncommand = "make test"\nseconds = 5\n[check.lint]\ncommand = "make lint"\n'
    )
    checks = read_checks(file.parent.parent)
    assert list(checks.items()) == [("tests", Check("make test", 5.0)), ("lint", Check("make lint", 600.0))]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("[check.tests]\nseconds = 5\n", 1, "check.tests lacks command, text in quotes that is not empty."),
        ('[check.tests]\ncommand = ""\n', 2, "check.tests.command must be text in quotes that is not empty"),
        ("[check.tests]\ncommand = 3\n", 2, "check.tests.command must be text in quotes"),
        (
            '[check.tests]\ncommand = "x"\nseconds = 0\n',
            3,
            "check.tests.seconds must be a number above 0, not 0.",
        ),
        (
            '[check.tests]\ncommand = "x"\ntimeout = 1\n',
            3,
            "[check.tests] has no key 'timeout'; the keys are",
        ),
        ('[tests]\ncommand = "x"\n', 1, "there is no table 'tests'; the tables are check."),
        ('check = "make"\n', 1, "check is a table"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(file: Path, text: str, line: int, says: str) -> None:
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        read_checks(file.parent.parent)
    assert str(caught.value).startswith(f"{file}, line {line}: ")
    assert says in str(caught.value)
