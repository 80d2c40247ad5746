"""Contract. What the window looks like as a whole, in a picture that a person has looked at.

`pytest tests/orchestrator/window/test_snapshots.py --snapshot-update` takes new ones.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from orchestrator.events import ChildFinished, ChildWorking, TurnFinished
from orchestrator.journal import PARENT
from orchestrator.window.app import Window
from tests.orchestrator.drawing.looks import FULL
from tests.orchestrator.view.stories import FIRST, SECOND, Teller, begins, child, ends, request, said
from tests.orchestrator.window.windows import Remembered
from worker.model import Usage
from worker.protocol import Answered


def test_a_turn_with_two_children(
    snap_compare: "Callable[..., bool]", monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # The plugin named its folder in an environment that the tests do not see.
    monkeypatch.setenv("TEXTUAL_SNAPSHOT_TEMPDIR", str(tmp_path))
    window = Window(Remembered(), FULL, lambda: 110.0)

    async def tell(pilot: "Pilot[int]") -> None:
        teller = Teller()
        teller.stories = window.stories
        teller.tell(
            request("Get tally ready for the release."),
            said("I **hand it out**:\n\n- tabs\n- `width`"),
            begins("bash", "bash: pytest -q"),
            ends("bash", "bash: pytest -q", "3 passed"),
            child(FIRST, "Fix the tabs"),
            child(SECOND, "Fix the width", agent="tidy"),
            (FIRST, ChildWorking("/w", (), ())),
            begins("edit", "edit src/parser.py", who=FIRST),
            (SECOND, ChildFinished(Answered("Did it."), None, 2.0, Usage(1_000, 200))),
            (PARENT, TurnFinished(Answered("Done."), 3.0)),
        )
        window.draw()
        await pilot.pause()

    assert snap_compare(window, terminal_size=(110, 30), run_before=tell)
