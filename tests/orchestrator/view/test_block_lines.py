"""Pure. Blocks of a transcript as lines."""

from merge.landings.landing import Conflicted, Landed
from orchestrator.conversation.compaction import compacted
from orchestrator.drawing.lines import plain
from orchestrator.drawing.look import Look
from orchestrator.events import ChildFinished, ChildWorking, Compacted, ModelRetried, TurnFinished
from orchestrator.journal import PARENT
from orchestrator.view.block_lines import draw_block, session_line
from orchestrator.view.blocks import AnyBlock, is_foldable, text_of
from orchestrator.view.story import Stories
from tests.orchestrator.drawing.looks import ASCII, FULL
from tests.orchestrator.view.stories import FIRST, SECOND, Teller, begins, child, ends, request, said
from worker.conversation import AnyMessage, AssistantMessage, UserMessage
from worker.model import Overloaded, Usage
from worker.protocol import Answered

LONG: list[AnyMessage] = [UserMessage("do it"), *(AssistantMessage(f"step {n}") for n in range(9))]


def drawn(
    block: AnyBlock, stories: Stories, look: Look = FULL, *, width: int = 60, unfolded: bool = False
) -> list[str]:
    lines = draw_block(block, stories, look, now=110.0, width=width, unfolded=unfolded)
    return [plain(line) for line in lines]


def test_a_call_is_one_line_with_its_time_and_unfolds_to_what_it_gave() -> None:
    stories = Teller().tell(request(), begins("bash", "bash: pytest -q"), ends("bash", "b: x", "1\n2\n"))
    stories.parent.replace(1, stories.parent.blocks[1])
    (line,) = drawn(stories.parent.blocks[1], stories, ASCII, width=40)
    assert line == "> bash  b: x                     + 0.5 s"
    assert drawn(stories.parent.blocks[1], stories, unfolded=True)[1:] == ["    1", "    2"]


def test_a_running_and_a_failed_call_say_so_in_words() -> None:
    teller = Teller()
    stories = teller.tell(request(), begins("read", "read a.py"))
    assert drawn(stories.parent.blocks[1], stories, ASCII)[0].endswith("* running 0:09")
    teller.tell(ends("read", "read a.py", "There is no a.py.", failed=True))
    assert drawn(stories.parent.blocks[1], stories, ASCII)[0].endswith("x failed 0.5 s")


def test_a_shorter_conversation_is_a_block_that_unfolds_to_what_it_was_shortened_to() -> None:
    short = compacted(LONG, "Fixed the tabs.\nThe width is left.", "")
    teller = Teller()
    stories = teller.tell(request(), (PARENT, Compacted(tuple(short), 9_000, 400, Usage(), 1.0)))
    block = stories.parent.blocks[1]
    head = "conversation made shorter: about 9,000 tokens are 400 now"
    assert drawn(block, stories, ASCII) == ["", f"> {head}", ""]
    unfolded = drawn(block, stories, ASCII, unfolded=True)
    assert unfolded[2:4] == ["    Fixed the tabs.", "    The width is left."]
    assert is_foldable(block)
    assert "width is left" in text_of(block)
    cut = (PARENT, Compacted((UserMessage("do it"),), 9_000, 400, Usage(), 1.0))
    assert drawn(teller.tell(cut).parent.blocks[2], stories, ASCII) == [f"  {head}"]


def test_a_line_never_grows_beyond_its_width() -> None:
    stories = Teller().tell(request(), begins("bash", "bash: " + "long " * 40))
    assert len(drawn(stories.parent.blocks[1], stories, ASCII, width=50)[0]) <= 50


def test_a_card_has_a_row_for_each_child_and_one_child_gives_it_its_title() -> None:
    teller = Teller()
    stories = teller.tell(request(), child(FIRST, "Fix the tabs", agent="tidy"))
    assert (
        drawn(stories.parent.blocks[1], stories)[1]
        == "‣ 👥 Fix the tabs (implement, agent tidy) · 1 starting"
    )
    teller.tell(
        child(SECOND, "Fix the width"),
        (FIRST, ChildWorking("/w", (), ())),
        (FIRST, ChildFinished(Answered("Did it."), None, 2.0, Usage(1_000, 200))),
    )
    lines = drawn(stories.parent.blocks[1], stories, width=130)
    assert lines[1] == "‣ 👥 2 children · 1 finished, 1 starting"
    assert lines[2].split()[:4] == ["✓", "finished", FIRST, "implement/tidy"]
    assert "1.2k" in lines[2]


def test_an_unfolded_card_shows_what_each_child_did_last() -> None:
    stories = Teller().tell(request(), child(FIRST, "Fix the tabs"), begins("read", "read a.py", who=FIRST))
    assert any("read  a.py" in line for line in drawn(stories.parent.blocks[1], stories, unfolded=True))


def test_a_child_that_waits_for_the_endpoint_says_what_failed_and_when_it_is_tried_again() -> None:
    stories = Teller().tell(
        request(), child(FIRST, "Fix the tabs"), (FIRST, ModelRetried(Overloaded(429, "slow down"), 2, 20.0))
    )
    assert any("Attempt 3 in 12 s." in line for line in drawn(stories.parent.blocks[1], stories, width=240))
    words = plain(session_line(stories.picture, FULL, 110.0, "Esc"))
    assert words.startswith(
        "1 child waiting: The model's endpoint is overloaded (429): slow down. Attempt 3 in 12 s."
    )


def test_the_state_line_says_what_is_done_and_what_stops_it() -> None:
    teller = Teller()
    stories = teller.tell()
    assert plain(session_line(stories.picture, FULL, 110.0, "Esc")) == "ready"
    teller.tell(request())
    assert (
        plain(session_line(stories.picture, FULL, 107.0, "Esc")) == "thinking · 0:07 · 0 tokens · Esc stops"
    )
    teller.tell((PARENT, ModelRetried(Overloaded(503, "busy"), 1, 4.0)))
    assert "Attempt 2 in 4 s." in plain(session_line(stories.picture, FULL, 101.0, "Esc"))
    teller.tell(said("Done."), (PARENT, TurnFinished(Answered("Done."), 3.0)))
    assert plain(session_line(stories.picture, FULL, 200.0, "Esc")) == "ready · 1,200 tokens"


def test_control_characters_of_a_model_are_shown_and_not_obeyed() -> None:
    stories = Teller().tell(request("a\x1b[2Jb"), said("c\x1b]0;x\x07d"))

    whole = "".join(line for block in stories.parent.blocks for line in drawn(block, stories, width=60))
    assert "\x1b" not in whole
    assert "^[" in whole


def test_a_turn_ends_with_what_landed_and_who_did_not_end_well_and_unfolds_to_all() -> None:
    landed = ChildFinished(Answered("Did it."), Landed("l1", ("a.py", "b.py")), 2.0, Usage(1_000, 200))
    conflict = Conflicted("/w-children/x", ("c.py: both changed it",))
    stories = Teller().tell(
        request(),
        child(FIRST, "Fix the tabs"),
        child(SECOND, "Fix the width"),
        (FIRST, landed),
        (SECOND, ChildFinished(Answered("Did it."), conflict, 2.0, Usage())),
        (PARENT, TurnFinished(Answered("Done."), 3.0)),
    )
    folded = "\n".join(drawn(stories.parent.blocks[-1], stories, width=120))
    assert folded.startswith("\n‣ landed 2 files: a.py, b.py\n≠ conflict fix-width-cd34")
    assert "✓ landed fix-tabs" not in folded
    assert "2 children: 1 landed, 1 conflict" in folded
    unfolded = "\n".join(drawn(stories.parent.blocks[-1], stories, width=120, unfolded=True))
    assert "✓ landed fix-tabs" in unfolded
