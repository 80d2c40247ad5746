"""Pure. Which commands `read` answers, and with which call."""

import pytest

from worker.tools.answered_by_read import read_call
from worker.tools.read import ReadArguments


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("cat a.py", ReadArguments("a.py")),
        (" cat 'a b.py' ;", ReadArguments("a b.py")),
        ("cat ~/notes", ReadArguments("~/notes")),
        ("cat /etc/hosts", ReadArguments("/etc/hosts")),
        ("head a.py", ReadArguments("a.py", limit=10)),
        ("head -n 3 a.py", ReadArguments("a.py", limit=3)),
        ("head -n3 a.py", ReadArguments("a.py", limit=3)),
        ("head -3 a.py", ReadArguments("a.py", limit=3)),
        ("head --lines=3 a.py", ReadArguments("a.py", limit=3)),
        ("head --lines 3 a.py", ReadArguments("a.py", limit=3)),
        ("sed -n 3,7p a.py", ReadArguments("a.py", offset=3, limit=5)),
        ('sed -n "3,7p" a.py', ReadArguments("a.py", offset=3, limit=5)),
        ("sed -n '7,3p' a.py", ReadArguments("a.py", offset=7, limit=1)),
    ],
)
def test_plain_reading_is_a_call_of_read(command: str, call: ReadArguments) -> None:
    assert read_call(command) == call


@pytest.mark.parametrize(
    "command",
    [
        "cat",
        "cat -",
        "cat ''",
        "cat -n a.py",
        "cat a.py b.py",
        "cat *.py",
        "cat a.py | head",
        "cat a.py; cat b.py",
        "cat a.py > b.py",
        "cat $FILE",
        "cat '\"quoted\"'",
        "cd src && cat a.py",
        "head a.py b.py",
        "head -c 3 a.py",
        "head -n -3 a.py",
        "head -n 0 a.py",
        "head -n 3",
        "head -n 3 a.py b.py",
        "head -q a.py",
        f"head -n {'9' * 5000} a.py",
        "sed -n 3p a.py",
        "sed -n '3,7p;9p' a.py",
        "sed -n 0,7p a.py",
        "sed -n 3,+7p a.py",
        "sed 3,7p a.py",
        "sed -n 3,7p a.py b.py",
        "tail a.py",
        "ls",
    ],
)
def test_every_other_form_is_left_to_the_shell(command: str) -> None:
    assert read_call(command) is None
