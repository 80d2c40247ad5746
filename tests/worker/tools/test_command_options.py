"""Pure. The words of a command, taken apart as a program with few options would."""

import pytest

from worker.tools.command_options import Dialect, Options, read_options
from worker.tools.shell_words import Word

DIALECT = Dialect({"-n": "n", "-i": "i", "--ignore-case": "i"}, {"-e": "e", "--regexp": "e"})


def read(words: str, globbed: str = "") -> Options | None:
    return read_options([Word(word, word == globbed) for word in words.split()], DIALECT)


@pytest.mark.parametrize(
    ("words", "given", "operands"),
    [
        ("", "", ""),
        ("-n x -i y", "n i", "x y"),
        ("-ni x", "n i", "x"),
        ("--ignore-case x", "i", "x"),
        ("-e a -eb --regexp=c --regexp d", "e=a e=b e=c e=d", ""),
        ("-nea", "n e=a", ""),
        ("-e -n", "e=-n", ""),
        ("- x", "", "- x"),
        ("-n -- -i x", "n", "-i x"),
    ],
)
def test_options_and_operands(words: str, given: str, operands: str) -> None:
    found = read(words)
    assert found is not None
    assert " ".join(f"{letter}={value}" if value else letter for letter, value in found.given) == given
    assert " ".join(found.operands) == operands


@pytest.mark.parametrize("words", ["-x", "-nx", "--ignore-case=no", "--what", "-e", "-e=a", "-n-i"])
def test_what_is_not_known_is_nothing(words: str) -> None:
    assert read(words) is None


def test_a_pattern_of_the_shell_is_an_option_at_most() -> None:
    assert read("-e*", globbed="-e*") == Options((("e", "*"),), ())
    for words in ("*.py", "-e *.py", "-- *.py"):
        assert read(words, globbed="*.py") is None, words


def test_values_are_by_letter_and_in_order() -> None:
    found = read("-e a -n --regexp b")
    assert found is not None
    assert (found.values("e"), found.values("n"), found.letters) == (["a", "b"], [""], {"e", "n"})
