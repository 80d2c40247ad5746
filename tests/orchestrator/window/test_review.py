"""Real git. The review on the window: decided place by place, landed, dropped, edited, sent back."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot

from orchestrator.commands.typed import SendBack
from orchestrator.window.review_app import ReviewApp
from tests.orchestrator.drawing.looks import FULL
from tests.orchestrator.review.places import Place, keep, make_place, text

pytestmark = pytest.mark.keeps_checkouts

CHILD = "five-a1"


@pytest.fixture
def conflicted(tmp_path: Path) -> Place:
    """A kept child: line 5 of src/app.py is both's, line 15 and new.txt are the child's alone."""
    place = make_place(tmp_path / "repo")
    keep(
        place,
        CHILD,
        {"src/app.py": text(l5="the child's", l15="the child's too"), "new.txt": "new\n"},
        {"src/app.py": text(l5="mine")},
    )
    return place


class Reviewing:
    """The screen under way."""

    def __init__(self, app: App[SendBack], pilot: "Pilot[SendBack]") -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        await self.app.workers.wait_for_complete()  # pyright: ignore[reportUnknownMemberType]
        await self.pilot.pause()

    def text(self) -> str:
        strips = self.app.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
        return "\n".join(strip.text.rstrip() for strip in strips)


def in_review(
    place: Place, test: Callable[[Reviewing], Awaitable[None]], child: str = "", columns: int = 120
) -> SendBack | None:
    async def play() -> SendBack | None:
        app = ReviewApp(place.repository, FULL, child)
        async with app.run_test(size=(columns, 50)) as pilot:
            reviewing = Reviewing(app, pilot)
            await reviewing.settle()
            await test(reviewing)
        return app.return_value

    return asyncio.run(play())


def test_a_conflict_is_seen_side_by_side_decided_and_landed(conflicted: Place) -> None:
    before = conflicted.read("src/app.py")

    async def test(reviewing: Reviewing) -> None:
        assert "Kept for review: 1" in reviewing.text()
        assert f"≠ {CHILD}  conflicts: src/app.py" in reviewing.text()
        await reviewing.press("enter")
        shown = reviewing.text()
        assert "place 1 of 1  [ ] here  [ ] the child  [ ] both  [ ] before" in shown
        assert "1 place open" in shown
        line = next(each for each in shown.split("\n") if "mine" in each)
        assert "the child's" in line
        await reviewing.press("l")
        assert "still open" in reviewing.text()
        await reviewing.press("c")
        assert "[x] the child" in reviewing.text()
        assert conflicted.read("src/app.py") == before
        await reviewing.press("l")
        assert "landed 2 files" in reviewing.text()
        assert "Nothing is kept for review." in reviewing.text()

    assert in_review(conflicted, test) is None
    assert conflicted.read("src/app.py") == text(l5="the child's", l15="the child's too")
    assert conflicted.read("new.txt") == "new\n"


def test_leaving_writes_nothing(conflicted: Place) -> None:
    before = conflicted.read("src/app.py")

    async def test(reviewing: Reviewing) -> None:
        await reviewing.press("c", "escape", "escape")

    in_review(conflicted, test, CHILD)
    assert conflicted.read("src/app.py") == before
    assert conflicted.checkout(CHILD).is_dir()


def test_both_sides_of_a_place_are_kept_and_what_changed_since_is_merged(conflicted: Place) -> None:
    async def test(reviewing: Reviewing) -> None:
        await reviewing.press("b")
        conflicted.write("src/app.py", conflicted.read("src/app.py").replace("line 20\n", "line twenty\n"))
        await reviewing.press("l")
        assert "landed" in reviewing.text()

    in_review(conflicted, test, CHILD)
    landed = conflicted.read("src/app.py")
    assert "mine\nthe child's\n" in landed
    assert "the child's too\n" in landed
    assert "line twenty\n" in landed


def test_dropping_asks_first(conflicted: Place) -> None:
    async def test(reviewing: Reviewing) -> None:
        await reviewing.press("x")
        assert "2 files it changed" in reviewing.text()
        await reviewing.press("n")
        assert "Nothing was dropped." in reviewing.text()
        assert conflicted.checkout(CHILD).is_dir()
        await reviewing.press("x", "y")
        assert f"dropped {CHILD}" in reviewing.text()

    in_review(conflicted, test, CHILD)
    assert not conflicted.checkout(CHILD).exists()


def test_a_child_is_sent_back_with_words(conflicted: Place) -> None:
    async def test(reviewing: Reviewing) -> None:
        await reviewing.press("s", "n", "o", "enter")

    assert in_review(conflicted, test, CHILD) == SendBack(CHILD, "no")


def test_a_narrow_terminal_shows_the_versions_below_each_other(conflicted: Place) -> None:
    async def test(reviewing: Reviewing) -> None:
        assert "here: line 5" in reviewing.text()
        assert "before: line 5" in reviewing.text()
        assert "the child: line 5" in reviewing.text()

    in_review(conflicted, test, CHILD, columns=50)
