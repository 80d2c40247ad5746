"""Pure, with grep and ripgrep as witnesses: one finds by the basic pattern what the other finds by its translation."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.tools.basic_regex import regex_of_basic

RIPGREP = str(Path(sys.executable).with_name("rg"))

LINES = (
    "a b ab aab abab a+ a? a|b (a) {a} a{2} aa ^a a$ $ * a* a.b a\\ [a] a-b a&b a~b ab1 é foo_bar foo".split(
        " "
    )
)


def found(command: list[str]) -> list[str] | None:
    """The lines that a witness finds; None where it takes the pattern for an error."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    text = "\n".join(LINES) + "\n"
    run = subprocess.run(command, input=text, capture_output=True, text=True, env=environment, check=False)
    return None if run.returncode > 1 else run.stdout.splitlines()


@pytest.mark.parametrize(
    ("basic", "regex"),
    [
        ("def run(self)", r"def run\(self\)"),
        (r"foo\|bar", "foo|bar"),
        (r"\(ab\)\{2\}", "(ab){2}"),
        (r"a\+b\?", "a+b?"),
        ("*a^b$c", r"\*a\^b\$c"),
        ("^*a.*$", r"^\*a.*$"),
        (r"\<word\>", r"\<word\>"),
        (r"[]a\[&~^-]", r"[\]a\\\[\&\~\^-]"),
        ("[^[:alpha:]_]", r"[^\p{Alphabetic}_]"),
        (r"a\.b\*c\\", r"a\.b\*c\\"),
    ],
)
def test_letters_and_operators_change_places(basic: str, regex: str) -> None:
    assert regex_of_basic(basic) == regex


@pytest.mark.parametrize(
    "basic", [r"\(a\)\1", r"\+a", r"\?", r"a\n", r"\d", "[a", "[[.a.]]", "[[:nope:]]", "a\\"]
)
def test_what_has_no_sure_translation_has_none(basic: str) -> None:
    assert regex_of_basic(basic) is None


PIECES = ["a", "b", "1", "é", " ", "_", ".", "*", "+", "?", "|", "(", ")", "{", "}", "^", "$", "-", "&", "~"]
ESCAPED = [
    r"\|",
    r"\(",
    r"\)",
    r"\(a\)",
    r"\{2\}",
    r"\+",
    r"\?",
    r"\.",
    r"\*",
    r"\\",
    r"\b",
    r"\w",
    r"\<",
    r"\>",
]
BRACKETS = [
    "[ab]",
    "[^a]",
    "[]a]",
    "[^]b]",
    r"[\a]",
    "[[:alpha:]]",
    "[a-c]",
    "[+*]",
    "[a^]",
    "[&~-]",
    "[$]",
    "[[a]",
]


@settings(max_examples=60)
@given(st.lists(st.sampled_from(PIECES + ESCAPED + BRACKETS), min_size=1, max_size=6).map("".join))
def test_both_find_the_same(basic: str) -> None:
    regex = regex_of_basic(basic)
    expected = found(["grep", "--", basic])
    if regex is not None and expected is not None:
        assert found([RIPGREP, "--no-config", "--color=never", "--", regex]) == expected
