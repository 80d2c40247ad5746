"""Situations for the tests of review: a repository, and one with a child whose line conflicts with the person's."""

import contextlib
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator import cli
from tests.orchestrator.review.places import Place, keep, make_place, text


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A repository; the test is in its root."""
    place = make_place(tmp_path / "repo")
    monkeypatch.chdir(place.root)
    return place


@pytest.fixture
def conflicted(place: Place) -> Place:
    """`place` with the kept child `five-a1`: line 5 of src/app.py is both's, line 15 and new.txt the child's alone."""
    keep(
        place,
        "five-a1",
        {"src/app.py": text(l5="the child's", l15="the child's too"), "new.txt": "new\n"},
        {"src/app.py": text(l5="mine")},
    )
    return place


Covey = Callable[..., tuple[int, str]]
"""Runs a command line in this process: its exit code, and what it printed."""


@pytest.fixture
def covey(capfd: pytest.CaptureFixture[str]) -> Covey:
    def run(*words: str) -> tuple[int, str]:
        capfd.readouterr()
        with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")) as printed:
            status = cli.run(words)
            printed.flush()
            shown = printed.buffer
            assert isinstance(shown, io.BytesIO)
            output = shown.getvalue().decode()
        return status, output + capfd.readouterr().err

    return run
