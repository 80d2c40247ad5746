"""`covey review` on a terminal: the review alone, without a session below it. Knows nothing but that screen."""

from textual.app import App
from textual.driver import Driver

from merge.store.repository import Repository
from orchestrator.commands.typed import SendBack
from orchestrator.drawing.look import Look
from orchestrator.window.review import Review


class ReviewApp(App[SendBack]):
    """The screen alone; what is to be sent back is what it ends with."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self, repository: Repository, look: Look, child: str, *, driver_class: type[Driver] | None = None
    ) -> None:
        super().__init__(driver_class=driver_class)
        self._review = Review(repository, look, child=child, can_send_back=True)

    def on_mount(self) -> None:
        self.push_screen(self._review, lambda wanted: self.exit(wanted))
