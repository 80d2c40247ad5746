"""The frame of the window: what it is laid out of, what it is told of the session, and when that is drawn.

Drawing is put off a little, so that a burst of events costs one drawing. What a person does in it is
`orchestrator.window.app`'s; nothing of the session itself is held here.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from textual import events
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.driver import Driver
from textual.message import Message
from textual.widgets import Input

from merge.store.repository import Repository
from orchestrator.commands.typed import SendBack
from orchestrator.drawing.lines import Line, Span, dim, line, tame_line
from orchestrator.drawing.look import Look
from orchestrator.journal import PARENT, Entry, Heard
from orchestrator.view.block_lines import session_line
from orchestrator.view.blocks import Shown
from orchestrator.view.story import Stories
from orchestrator.window.composer import Completions, Composer
from orchestrator.window.deeds import Deeds
from orchestrator.window.panes import ModuleState, Overlay, Pane, Settings
from orchestrator.window.questions import Questions
from orchestrator.window.review import Review
from orchestrator.window.sediment import Sediment
from orchestrator.window.side import KeptRow, Side
from orchestrator.window.transcript import Transcript
from worker.protocol import ChildId

_DRAW_SECONDS = 0.04
"""Events that come in this time are drawn at once."""

_CLOCK_SECONDS = 1.0

_SIDE_FROM_COLUMNS = 90
"""Narrower, the transcript has the whole width."""


class Frame(App[int]):
    """The parts and the drawing of them, for one session after the other. `is_watching`: nothing can be typed."""

    CSS = """
    Screen { layers: base over; }
    #body { height: 1fr; }
    #transcript { width: 1fr; height: 1fr; }
    #side { width: 38; height: 1fr; border-left: solid $panel-lighten-2; padding: 0 0 0 1; }
    #questions { height: auto; max-height: 60%; border: round $warning; padding: 0 1; display: none; }
    #completions { height: auto; max-height: 10; border: round $panel-lighten-2; padding: 0 1; }
    #search { height: 1; border: none; padding: 0 1; display: none; }
    #queued { height: auto; max-height: 4; padding: 0 1; }
    #composer { height: auto; min-height: 1; max-height: 10; border: none; padding: 0 0 0 1; background: $surface; }
    #state { height: 1; padding: 0 1; }
    #line { height: auto; }
    #sign { width: 2; height: 1; padding: 0; }
    """
    ENABLE_COMMAND_PALETTE = False

    class Changed(Message):
        """There is something new to draw."""

    def __init__(
        self,
        deeds: Deeds,
        look: Look,
        clock: Callable[[], float],
        *,
        driver_class: type[Driver] | None = None,
        history: Sequence[str] = (),
        remember: Callable[[str], None] = lambda text: None,
        files: Callable[[], Sequence[str]] = tuple,
        is_watching: bool = False,
    ) -> None:
        super().__init__(driver_class=driver_class, watch_css=False)
        self.stories = Stories()
        self._sediment = Sediment()
        self.who: ChildId = PARENT
        self.queued: tuple[str, ...] = ()
        self.stopping = False
        self.kept: Sequence[KeptRow] = ()
        self._deeds = deeds
        self._look = look
        self._clock = clock
        self._remember = remember
        self._is_watching = is_watching
        self._is_told = False
        self._will_draw = False
        self._warned_to_leave = False
        self._suspended = False
        self._transcript = Transcript(self.stories, look, clock)
        self._side = Side(look, clock)
        self._completions = Completions(look, self._child_ids, files)
        self._composer = Composer(self._intercept, self._completions, history)
        self._questions = Questions(deeds, look)
        self._queued_pane = Pane(id="queued", markup=False)
        self._state = Pane(id="state", markup=False)
        self._search = Input(id="search", placeholder="search; Enter the next, Esc closes", compact=True)

    def compose(self) -> ComposeResult:
        with Horizontal(id="body"):
            yield self._transcript
            yield self._side
        yield self._search
        yield self._questions
        yield self._completions
        yield self._queued_pane
        yield self._state
        with Horizontal(id="line"):
            sign = Pane(id="sign", markup=False)
            sign.show([line(Span(self._look.prompt, "accent"))])
            yield sign
            yield self._composer

    def on_mount(self) -> None:
        self.title = "covey"
        if self._is_watching:
            self.query_one("#line").display = False
            self._transcript.focus()
        else:
            self._composer.focus()
        self.set_interval(_CLOCK_SECONDS, self._tick)
        self.draw()

    def on_resize(self, event: events.Resize) -> None:
        self._side.display = event.size.width >= _SIDE_FROM_COLUMNS
        self.call_after_refresh(self.draw)

    # What it is told. textual's own things happen in its own context: `call_later` brings them there.

    def take(self, item: Entry | Heard) -> None:
        """Take in what happened; it is drawn in a moment."""
        self.stories.take(item)
        if isinstance(item, Entry):
            self._sediment.add()
        self.tell()

    def tell(self) -> None:
        """Something that is drawn has changed."""
        if not self._is_told and self.is_running:
            self._is_told = True
            self.post_message(self.Changed())

    def show_lines(self, lines: Sequence[Line]) -> None:
        """What came of a command, at the end of the parent's transcript; it is not part of the session."""
        self.stories.parent.add(Shown(self._clock(), tuple(lines)))
        self.call_later(self._show_end)

    def _show_end(self) -> None:
        if self.who != PARENT:
            self.open_story(PARENT)
        self._transcript.to_end()
        self.draw()

    def show_over(self, title: str, lines: Sequence[Line]) -> None:
        """Something longer that a person asked for, over everything."""
        self.call_later(self.push_screen, Overlay(title, lines))

    def show_settings(self, modules: Sequence[ModuleState], lines: Sequence[Line]) -> None:
        """The settings over everything; a module that is switched is a command like any other."""

        def switch(name: str, on: bool) -> None:
            self._deeds.send(f"/modules {name} {'on' if on else 'off'}")

        self.call_later(self.push_screen, Settings(modules, lines, self._look, switch))

    def review(self, repository: Repository, child: str) -> None:
        """Open the review over everything; what is to be sent back goes to the session."""

        def send_back(wanted: SendBack | None) -> None:
            if wanted is not None:
                self._deeds.send(f"/send-back {wanted.child} {wanted.text}".rstrip())
            self.draw()

        review = Review(repository, self._look, child=child, can_send_back=True)
        self.call_later(self.push_screen, review, send_back)

    @property
    def is_suspended(self) -> bool:
        """Whether another program has the terminal, an editor say."""
        return self._suspended

    @contextmanager
    def suspend(self) -> Generator[None]:
        with super().suspend():
            self._suspended = True
            try:
                yield
            finally:
                self._suspended = False

    def start_over(self) -> None:
        """Another session begins."""
        self.stories = Stories()
        self.who, self.queued, self.stopping = PARENT, (), False
        if self.is_running:
            self.call_later(self._transcript.start_over, self.stories)
            self.tell()
        else:
            self._transcript.start_over(self.stories)

    # Drawing

    def on_frame_changed(self) -> None:
        self._is_told = False
        if not self._will_draw:
            self._will_draw = True
            self.set_timer(_DRAW_SECONDS, self.draw)

    def draw(self) -> None:
        """Draw what there is now."""
        self._will_draw = False
        if getattr(self._driver, "lags", False):
            self.set_timer(_CLOCK_SECONDS, self.draw)
            return
        if not self._is_watching:
            self._questions.follow(self.stories.picture)
        picture, now = self.stories.picture, self._clock()
        story = self.stories.story(self.who)
        story.changed.clear()
        self._transcript.lay_out()
        if self._side.display:
            self._side.show(picture, self.kept)
        self._state.show([self._state_line(now)])
        self._queued_pane.show([dim(f"queued: {tame_line(text)}") for text in self.queued])
        self._draw_questions()

    def _tick(self) -> None:
        if self.stories.picture.ended_at is None and self.stories.picture.request:
            self.draw()

    def _state_line(self, now: float) -> Line:
        if self.stopping:
            return line(Span("stopping all of it; Esc again kills at once", "warn"))
        who = (
            (Span(f"{self.who}: Esc goes back{self._look.separator}", "accent"),)
            if self.who != PARENT
            else ()
        )
        hints = [] if self._transcript.follows else ["Ctrl-End to the end"]
        hint = "".join(self._look.separator + each for each in (*hints, "F1 help"))
        return (*who, *session_line(self.stories.picture, self._look, now, "Esc"), Span(hint, "dim"))

    def _draw_questions(self) -> None:
        self._questions.draw(self.stories.picture, takes_keys=self._takes_keys())

    def _takes_keys(self) -> bool:
        """Whether keys are for the question that is open: not while a message is being typed."""
        return not self._composer.text

    def _intercept(self, event: events.Key | events.Paste) -> bool:
        """A key of the line that belongs to a question first."""
        return self._takes_keys() and self._questions.press(event, self.stories.picture)

    def open_story(self, who: ChildId) -> None:
        """Show the transcript of a child, or of the parent again."""
        self.who = who
        self._transcript.show(self.stories.story(who))
        self._composer.placeholder = f"a message to {who}" if who != PARENT else ""
        self.draw()
        if not self._is_watching:
            self._composer.focus()

    def _child_ids(self) -> list[str]:
        return [row.id for row in self.stories.picture.all_children().values()]
