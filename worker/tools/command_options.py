"""The words of a command taken apart into options and operands, as far as a dialect of options knows them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from worker.tools.shell_words import Word


@dataclass(frozen=True)
class Dialect:
    """The options of a program that are known, each under one letter for all the ways it is written."""

    letters: Mapping[str, str]
    """Options without a value."""

    valued: Mapping[str, str]
    """Options with one."""


@dataclass(frozen=True)
class Options:
    """What a command was given: options by letter, with their values in order, and the words that are none."""

    given: tuple[tuple[str, str], ...]
    operands: tuple[str, ...]

    @property
    def letters(self) -> frozenset[str]:
        return frozenset(letter for letter, _ in self.given)

    def values(self, letter: str) -> list[str]:
        """The values of one option."""
        return [value for each, value in self.given if each == letter]


def read_options(words: Sequence[Word], dialect: Dialect) -> Options | None:
    """The options and operands in `words`; None at an option that is not known, or where a file name is a pattern."""
    given: list[tuple[str, str]] = []
    operands: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word.text == "--":
            operands += [each.text for each in waiting]
            return None if any(each.globbed for each in waiting) else Options(tuple(given), tuple(operands))
        if word.text == "-" or not word.text.startswith("-"):
            if word.globbed:
                return None
            operands.append(word.text)
            continue
        # No file is named like an option, so the star of `--include=*.py` reaches the program as it is.
        option = _read_option(word, waiting, dialect)
        if option is None:
            return None
        given.append(option)
    return Options(tuple(given), tuple(operands))


def _read_option(word: Word, waiting: list[Word], dialect: Dialect) -> tuple[str, str] | None:
    """One option, its value taken from `waiting` where that is a word of its own; what is left of `-nri` goes there."""
    text = word.text
    name, equals, value = text.partition("=") if text.startswith("--") else (text[:2], "", text[2:])
    if name in dialect.valued:
        if value.startswith("=") and not equals:
            return None  # a part of the value to one program, not to another
        if not equals and not value:
            if not waiting or waiting[0].globbed:
                return None
            value = waiting.pop(0).text
        return dialect.valued[name], value
    if name not in dialect.letters or equals or value.startswith("-"):
        return None
    if value:
        waiting.insert(0, Word(f"-{value}", word.globbed))
    return dialect.letters[name], ""
