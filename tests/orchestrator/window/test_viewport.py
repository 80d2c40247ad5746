"""Pure, and a law. Which rows of a story are in view, wherever a person goes in it."""

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.window.sheet import Sheet
from orchestrator.window.viewport import Viewport
from tests.orchestrator.drawing.looks import ASCII
from tests.orchestrator.view.stories import AnyHappening, Teller, begins, ends, request, said

WIDTH, HEIGHT = 40, 6


class Viewed:
    """A story of `calls` calls, each a line, below a request, and the view of it."""

    def __init__(self, calls: int) -> None:
        self.teller = Teller()
        self.teller.tell(request("go"))
        for number in range(calls):
            self.tell(number)
        self.sheet = Sheet(self.teller.stories, ASCII, lambda: 110.0)
        self.viewport = Viewport(self.sheet)
        self.viewport.lay_out(WIDTH, HEIGHT)

    def tell(self, number: int) -> None:
        name, call = f"call-{number}", f"c{number}"
        happenings: tuple[AnyHappening, ...] = (begins(name, "x", call), ends(name, "x", "done", call))
        self.teller.tell(*happenings)

    def text(self) -> list[str]:
        return [row.strip.text.strip() for row in self.viewport.rows]

    def calls(self) -> list[str]:
        return [text.split()[1] for text in self.text() if text.startswith(">") and "call" in text]


def test_at_the_end_it_follows_what_comes() -> None:
    it = Viewed(20)
    assert it.viewport.follows
    assert it.calls() == [f"call-{number}" for number in range(14, 20)]
    it.tell(20)
    it.viewport.lay_out(WIDTH, HEIGHT)
    assert it.calls()[-1] == "call-20"


def test_what_was_gone_up_to_stays_in_view_whatever_comes() -> None:
    it = Viewed(20)
    it.viewport.scroll(-3)
    assert not it.viewport.follows
    assert it.calls() == [f"call-{number}" for number in range(11, 17)]
    it.tell(20)
    it.viewport.lay_out(WIDTH, HEIGHT)
    assert it.calls() == [f"call-{number}" for number in range(11, 17)]
    it.viewport.scroll(9)
    assert it.viewport.follows, "it has come to the end again"


def test_the_beginning_and_the_end_and_a_page_between() -> None:
    it = Viewed(20)
    it.viewport.to_beginning()
    assert it.text()[0] == "> go"
    assert it.sheet.mark.cursor == 0
    before = it.calls()
    it.viewport.page(1)
    assert it.calls()[0] in (before[-1], before[-2]), "some of the view before stays"
    it.viewport.to_end()
    assert (it.viewport.follows, it.sheet.mark.cursor) == (True, None)


def test_choosing_goes_along_with_the_view_and_stops_at_the_ends() -> None:
    it = Viewed(20)
    for _ in range(30):
        it.viewport.move(-1)
        assert it.sheet.mark.cursor in it.viewport.seen
    assert it.sheet.mark.cursor == 0
    for _ in range(30):
        it.viewport.move(1)
        assert it.sheet.mark.cursor in it.viewport.seen
    assert it.sheet.mark.cursor == 20


def test_a_place_is_brought_into_view_only_where_it_is_not_there() -> None:
    it = Viewed(20)
    it.viewport.bring(18)
    assert it.viewport.follows
    it.viewport.bring(3)
    assert it.viewport.seen[0] == 3
    it.viewport.bring(12)
    assert it.viewport.seen[-1] == 12


def test_a_view_of_no_size_shows_nothing_and_goes_nowhere() -> None:
    it = Viewed(3)
    nothing = Viewport(it.sheet)
    nothing.lay_out(0, 0)
    nothing.move(1)
    nothing.to_end()
    assert nothing.rows == []


@given(st.integers(0, 12), st.lists(st.integers(-9, 9), max_size=8), st.integers(1, 9))
def test_the_view_is_full_as_long_as_the_story_is_longer(calls: int, steps: list[int], height: int) -> None:
    it = Viewed(calls)
    it.teller.tell(said("Done."))
    it.viewport.lay_out(WIDTH, height)
    whole = sum(it.sheet.height(place, WIDTH) for place in range(it.sheet.count()))
    for step in steps:
        it.viewport.scroll(step)
        assert len(it.viewport.rows) == min(height, whole)
