"""Pure, with bash as the witness. A command is split as a shell splits it, or left to the shell."""

import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.tools.shell_words import Word, split_command


def texts(command: str) -> list[list[list[str]]] | None:
    pipelines = split_command(command)
    if pipelines is None:
        return None
    return [[[word.text for word in words] for words in pipeline] for pipeline in pipelines]


@pytest.mark.parametrize(
    ("command", "split"),
    [
        ("cat file", [[["cat", "file"]]]),
        ("  cat\t file  \n", [[["cat", "file"]]]),
        ("grep 'a b' \"c d\" e\\ f g'h'\"i\"", [[["grep", "a b", "c d", "e f", "ghi"]]]),
        (r'grep "a\$\"\\\`\n" \$', [[["grep", r"a$\"\`\n".replace(r"\"", '"'), "$"]]]),
        ('grep "end$" end$ $', [[["grep", "end$", "end$", "$"]]]),
        ("grep '' \"\"", [[["grep", "", ""]]]),
        ("a; b | c;d|e;", [[["a"]], [["b"], ["c"]], [["d"], ["e"]]]),
        ("cat ~ ~/x a~b", [[["cat", "~", "~/x", "a~b"]]]),
        ("echo a#b", [[["echo", "a#b"]]]),
        ("cat größe日本", [[["cat", "größe日本"]]]),
    ],
)
def test_words_quotes_and_joints_are_read(command: str, split: list[list[list[str]]]) -> None:
    assert texts(command) == split


def test_a_glob_is_told_from_a_quoted_star() -> None:
    assert split_command("a *.py '*.py' [x] \\?") == [
        [
            [
                Word("a"),
                Word("*.py", globbed=True),
                Word("*.py"),
                Word("[x]", globbed=True),
                Word("?"),
            ]
        ]
    ]


@pytest.mark.parametrize(
    "command",
    [
        "",
        "  ",
        ";",
        "a;;b",
        "a || b",
        "a && b",
        "a &",
        "a |& b",
        "| a",
        "a |",
        "a > b",
        "a 2>&1",
        "a < b",
        "a <<< b",
        "a $HOME",
        "a ${x}",
        "a $(b)",
        "a `b`",
        "a $1",
        "a $?",
        "a $'x'",
        'a $"x"',
        'a "$b"',
        'a "`b`"',
        "a {b,c}",
        "(a)",
        "a # b",
        "#a",
        "a\nb",
        "a 'b",
        'a "b',
        "a \\",
        "a \\\nb",
        'a "b\\\nc"',
        "cat ~root",
        "cat '~'",
        'cat "~/x"',
        "cat \\~",
        "a b=~/c",
        "a\0b",
        "a \ud800",
    ],
)
def test_what_takes_a_shell_is_left_to_the_shell(command: str) -> None:
    assert split_command(command) is None


PIECES = [
    "a",
    "é",
    "~",
    "~/",
    "#",
    "$",
    "=",
    "-",
    ",",
    ".",
    "!",
    " ",
    "  ",
    "\t",
    "'",
    '"',
    "\\",
    "*",
    "; show ",
    "| show ",
]
QUOTED = ["' #\\$'", '" # ~"', '"\\"\\$"', '"$"', "''", r"\ ", r"\'", r"\$", '"\\a"', "'\"'"]


@settings(max_examples=80)
@given(st.lists(st.sampled_from(PIECES + QUOTED), max_size=8).map("".join))
def test_bash_reads_the_same_words(text: str) -> None:
    pipelines = split_command(f"show {text}")
    if pipelines is None or any(
        word.globbed for pipeline in pipelines for words in pipeline for word in words
    ):
        return
    if any(words[0].text != "show" for pipeline in pipelines for words in pipeline):
        return  # another command, which this bash has not
    expected = b"".join(
        b"".join(re.sub("^~", "/home", word.text).encode() + b"\0" for word in words) + b"\n"
        for pipeline in pipelines
        for words in pipeline[-1:]
    )
    script = f"set -f; HOME=/home; show() {{ printf '%s\\0' show \"$@\"; echo; }}; show {text}"
    run = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert run.stdout == expected
