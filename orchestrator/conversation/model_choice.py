"""Which model answers in a session: the one it began with, or the one that the person has switched to since.

One switch for the parent and all its children, at the same endpoint: what follows from the model (its price, how much
it reads) is changed here together, and the journal tells of it. Knows no screen and no conversation.
"""

from collections.abc import Mapping

from orchestrator.config.limits import price_of
from orchestrator.conversation.budget import Price, Purse
from orchestrator.conversation.context_window import ContextWindow, known_window
from orchestrator.events import ModelSwitched
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.gateway.gateway import Gateway
from orchestrator.journal import PARENT, Journal


class ModelChoice:
    """The model of one session; `prices` are by a model's name."""

    def __init__(
        self,
        gateway: Gateway,
        purse: Purse,
        window: ContextWindow,
        prices: Mapping[str, Price],
        journal: Journal,
    ) -> None:
        self._gateway = gateway
        self._purse = purse
        self._window = window
        self._prices = prices
        self._journal = journal
        self._began_with = gateway.endpoint

    @property
    def endpoint(self) -> Endpoint:
        """Where the next call goes."""
        return self._gateway.endpoint

    def switch(self, model: str) -> None:
        """Let `model` answer from the next call on; a call that is under way ends as it began.

        Raises:
            UserError: when the cost is limited and the model has no price; all stays as it was.
        """
        if model == self.endpoint.model:
            return
        price = price_of(self._prices, model, self._purse.budget)
        self._journal.record(PARENT, ModelSwitched(model))
        self._purse.switch_price(price)
        self._gateway.switch_model(model)
        self._window.tokens = self._tokens_of(model)

    def _tokens_of(self, model: str) -> int | None:
        configured = self._began_with.context_tokens
        if model == self._began_with.model:
            return configured or known_window(model)
        # What was configured is of the model it began with: better than nothing, where this one is not known.
        return known_window(model) or configured
