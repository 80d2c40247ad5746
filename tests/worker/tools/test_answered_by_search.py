"""Pure. Which commands `search` answers, and with which calls."""

from typing import Any

import msgspec
import pytest

from worker.tools.answered_by_search import SearchCall, search_calls
from worker.tools.search import SearchArguments


def call(most_lines: int | None = None, **arguments: Any) -> SearchCall:
    return SearchCall(arguments, most_lines=most_lines)


def found(most_lines: int | None = None, **arguments: Any) -> SearchCall:
    return SearchCall(arguments, lists_folders=True, most_lines=most_lines)


@pytest.mark.parametrize(
    ("command", "calls"),
    [
        ("grep -r TODO", [call(pattern="TODO", case_sensitive=True)]),
        ("grep TODO a.py b.py", [call(pattern="TODO", path=["a.py", "b.py"], case_sensitive=True)]),
        ("grep -rni todo src", [call(pattern="todo", path="src")]),
        ("grep -r -n -i todo src/", [call(pattern="todo", path="src/")]),
        ("grep --recursive --ignore-case todo .", [call(pattern="todo", path=".")]),
        ("grep -rl x .", [call(pattern="x", path=".", case_sensitive=True, output="files")]),
        ("grep -c x a.py", [call(pattern="x", path="a.py", case_sensitive=True, output="count")]),
        ("grep -rw x .", [call(pattern="x", path=".", case_sensitive=True, word=True)]),
        ("grep -rF 'a(b*' .", [call(pattern="a(b*", path=".", case_sensitive=True, literal=True)]),
        ("grep -rn 'run(self)' .", [call(pattern=r"run\(self\)", path=".", case_sensitive=True)]),
        (r"grep -rn 'foo\|bar' .", [call(pattern="foo|bar", path=".", case_sensitive=True)]),
        ('grep -rn "end$" .', [call(pattern="end$", path=".", case_sensitive=True)]),
        ("grep -r -e a -eb .", [call(pattern=["a", "b"], path=".", case_sensitive=True)]),
        ("grep -r --regexp=a .", [call(pattern="a", path=".", case_sensitive=True)]),
        ("grep -rn x . --include=*.py", [call(pattern="x", path=".", glob="*.py", case_sensitive=True)]),
        (
            "grep -rn --include '*.py' --include='*.pyi' x .",
            [call(pattern="x", path=".", glob=["*.py", "*.pyi"], case_sensitive=True)],
        ),
        ("grep -rn -C 2 x .", [call(pattern="x", path=".", case_sensitive=True, context=2)]),
        ("grep -rnC2 x .", [call(pattern="x", path=".", case_sensitive=True, context=2)]),
        ("grep -r -- -x .", [call(pattern="-x", path=".", case_sensitive=True)]),
        ("rg TODO", [call(pattern="TODO", case_sensitive=True)]),
        ("rg -n 'a|b' src tests", [call(pattern="a|b", path=["src", "tests"], case_sensitive=True)]),
        ("rg -i -g '*.{ts,tsx}' x", [call(pattern="x", glob="*.{ts,tsx}")]),
        ("rg -g'*.py' -g '!test_*' x", [call(pattern="x", glob=["*.py", "!test_*"], case_sensitive=True)]),
        (
            "rg -l -F 'a.b' .",
            [call(pattern="a.b", path=".", case_sensitive=True, literal=True, output="files")],
        ),
        ("rg --context=3 -w x", [call(pattern="x", case_sensitive=True, word=True, context=3)]),
        ("find . -name '*.py'", [found(path=".", glob="*.py", case_sensitive=True)]),
        ("find src -type f -iname 'read*'", [call(path="src", glob="read*")]),
        (
            "find . -maxdepth 2 -name '*.py' -not -path './.venv/*' -not -path '*/build/*' -type f",
            [call(path=".", depth=2, glob="*.py", case_sensitive=True, exclude=["./.venv/*", "*/build/*"])],
        ),
        ("find ~/x -type f -name setup.py", [call(path="~/x", glob="setup.py", case_sensitive=True)]),
        ("mdfind -name 'q3 report'", [call(name="q3 report", path="/")]),
        ("mdfind -name report -onlyin ~/Documents", [call(name="report", path="~/Documents")]),
        ("mdfind -onlyin /srv -name report", [call(name="report", path="/srv")]),
        ("grep -r x . | head", [call(10, pattern="x", path=".", case_sensitive=True)]),
        ("rg x | head -20", [call(20, pattern="x", case_sensitive=True)]),
        ("find . -name a | head -n 3", [found(3, path=".", glob="a", case_sensitive=True)]),
        (
            "grep -r x .; rg y | head -5; find . -iname z",
            [
                call(pattern="x", path=".", case_sensitive=True),
                call(5, pattern="y", case_sensitive=True),
                found(path=".", glob="z"),
            ],
        ),
    ],
)
def test_plain_searching_is_calls_of_search(command: str, calls: list[SearchCall]) -> None:
    assert search_calls(command) == calls
    for one in calls:
        msgspec.convert(one.arguments, SearchArguments)


@pytest.mark.parametrize(
    "command",
    [
        "grep",
        "grep x",
        "grep x -",
        "grep -r '' .",
        "grep -rE 'a|b' .",
        "grep -rP x .",
        "grep -rv x .",
        "grep -ro x .",
        "grep -A 3 x a.py",
        "grep -r --exclude-dir=x y .",
        "grep -rlc x .",
        "grep -r x *.py",
        "grep -r x* .",
        "grep -rn x . --include *.py",
        "grep -rn x . --include='*.{py,ts}'",
        "grep -r -C x . y",
        f"grep -r -C {'9' * 5000} x .",
        r"grep -r '\(a\)\1' .",
        "grep -r 'a\nb' .",
        "grep -r x . > out",
        "grep -r x . 2>/dev/null",
        "grep -r x . | wc -l",
        "grep -r x . | head | head",
        "grep -r x . | head -c 10",
        "grep -r x . | head -n -3",
        "grep -r x . | head a.py",
        "grep -r x . && ls",
        "grep -r x .; ls",
        "grep -n- x .",
        "grep -e=x a.py",
        "grep x '\"a\"'",
        "rg -r y x",
        "rg --files",
        "rg -t py x",
        "rg",
        "rg -e",
        "find",
        "find .",
        "find . -type d -name x",
        "find -name x",
        "find . -name x -delete",
        "find . -name x -exec rm {} +",
        "find . -name x -o -name y",
        "find . -name '*.{py,ts}'",
        "find . -name x -print",
        "find . -maxdepth 0 -name x",
        "find a b -name x",
        "find . -type f",
        "find . -name *.py",
        "mdfind x",
        "mdfind -name ''",
        "ls",
        "tree",
        "wc -l a.py",
        "git grep x",
    ],
)
def test_every_other_form_is_left_to_the_shell(command: str) -> None:
    assert search_calls(command) is None
