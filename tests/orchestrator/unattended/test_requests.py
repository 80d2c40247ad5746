"""Contract. What may be asked without a person: on the command line, from standard input, as a file of steps."""

import io
import sys
from pathlib import Path

import pytest

from orchestrator.faults import UserError
from orchestrator.unattended.requests import read_request, read_steps


def feed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_a_request_is_the_word_itself_or_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_request("  fix it ") == "fix it"
    feed(monkeypatch, "\ufefffix\nthe café\n".encode())
    assert read_request("-") == "fix\nthe café"


@pytest.mark.parametrize(
    ("given", "data", "says"),
    [
        (" ", b"", "The request is empty"),
        ("-", b" \n", "Standard input is empty"),
        ("-", b"one\n\xff", "Standard input is no UTF-8 on line 2"),
        ("-", b"x" * 1_000_001, "Standard input is longer than 1,000,000 bytes"),
    ],
)
def test_what_is_no_request(monkeypatch: pytest.MonkeyPatch, given: str, data: bytes, says: str) -> None:
    feed(monkeypatch, data)
    with pytest.raises(UserError, match=says):
        read_request(given)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("fix the parser\nadd a test\n", ("fix the parser", "add a test")),
        ("\n- fix it\r\n\r\n* test it\n3. ship it\n", ("fix it", "test it", "ship it")),
        (
            "fix it\n  in parser.py\n  and lexer.py\nthen test\n",
            ("fix it\nin parser.py\nand lexer.py", "then test"),
        ),
        ("  indented from the first\n", ("indented from the first",)),
        ("3.5 is the version\n", ("3.5 is the version",)),
    ],
)
def test_steps_are_lines(tmp_path: Path, text: str, wanted: tuple[str, ...]) -> None:
    file = tmp_path / "steps"
    file.write_bytes(text.encode())
    assert read_steps(str(file)) == wanted


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "steps holds no step; write one request a line."),
        (b"\n \n", "steps holds no step"),
        (b"- \n", "steps holds no step"),
        (b"fine\n\xe9\n", "steps is no UTF-8 on line 2; save it as UTF-8."),
        (b"x\n" * 1_001, "steps holds 1,001 steps; at most 1,000 are taken."),
        (b"x" * 1_000_001, "steps is longer than 1,000,000 bytes"),
    ],
)
def test_a_file_that_holds_no_steps_is_named(tmp_path: Path, data: bytes, says: str) -> None:
    file = tmp_path / "steps"
    file.write_bytes(data)
    with pytest.raises(UserError, match=says):
        read_steps(str(file))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nowhere can't be read: No such file or directory"):
        read_steps(str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="can't be read: Is a directory"):
        read_steps(str(tmp_path))
