"""Pure. The last lines of a terminal: drawn in place, below what scrolls up, also when the terminal is resized."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.drawing.region import Region
from tests.orchestrator.drawing.small_terminal import SmallTerminal


def draw(region: Region, terminal: SmallTerminal, above: str, *lines: str) -> None:
    terminal.feed(region.redraw(above, [(line, len(line)) for line in lines], terminal.columns))


def test_a_region_is_drawn_over_what_it_was() -> None:
    region, terminal = Region(), SmallTerminal(20)
    draw(region, terminal, "", "one child", "two children")
    draw(region, terminal, "", "ended")
    assert terminal.lines() == ["ended"]


def test_text_above_pushes_the_region_down() -> None:
    region, terminal = Region(), SmallTerminal(20)
    draw(region, terminal, "", "row")
    draw(region, terminal, "first\nsecond\n", "row", "status")
    assert terminal.lines() == ["first", "second", "row", "status"]


def test_a_shorter_line_leaves_nothing_of_the_longer_one() -> None:
    region, terminal = Region(), SmallTerminal(20)
    draw(region, terminal, "", "a long status")
    draw(region, terminal, "", "short")
    assert terminal.lines() == ["short"]


def test_a_region_without_lines_is_gone() -> None:
    region, terminal = Region(), SmallTerminal(20)
    draw(region, terminal, "said\n", "row", "status")
    draw(region, terminal, "")
    terminal.feed("prompt")
    assert terminal.lines() == ["said", "prompt"]


def test_nothing_to_draw_writes_nothing() -> None:
    assert Region().redraw("", [], 80) == ""


def test_after_the_terminal_was_made_narrower_no_remains_are_left() -> None:
    region, terminal = Region(), SmallTerminal(40)
    draw(region, terminal, "said\n", "x" * 39, "y" * 39)
    terminal.resize(15)
    draw(region, terminal, "", "row", "status")
    assert terminal.lines() == ["said", "row", "status"]


@dataclass(frozen=True)
class Step:
    columns: int
    above: tuple[str, ...]
    lines: tuple[int, ...]


_steps = st.builds(
    Step,
    columns=st.integers(4, 30),
    above=st.lists(st.text("ab ", max_size=45).map(str.rstrip), max_size=3).map(tuple),
    lines=st.lists(st.integers(0, 28), max_size=5).map(tuple),
)


@given(st.lists(_steps, max_size=8))
def test_the_screen_is_always_what_was_said_and_then_the_region(steps: list[Step]) -> None:
    region, terminal = Region(), SmallTerminal(30)
    said: list[str] = []
    for step in steps:
        terminal.resize(step.columns)
        said += step.above
        lines = ["z" * min(width, step.columns - 1) for width in step.lines]
        draw(region, terminal, "".join(f"{line}\n" for line in step.above), *lines)
        whole = [*said, *lines]
        while whole and not whole[-1]:
            whole.pop()
        assert terminal.lines() == whole
