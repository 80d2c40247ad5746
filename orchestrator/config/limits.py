"""What one session may use: `[budget]`, `[children] max` and the price of its model, put together.

Pure. Knows no flag and no file.
"""

from collections.abc import Mapping

import msgspec

from orchestrator.config.tables import Configuration
from orchestrator.conversation.budget import Budget, Price
from orchestrator.faults import UserError


class Limits(msgspec.Struct, frozen=True):
    """What one session may use. `children` are at work at once, None for as many as the machine serves well."""

    budget: Budget = Budget()
    price: Price | None = None
    children: int | None = None


def choose_limits(configuration: Configuration, model: str) -> Limits:
    """What `configuration` lets a session with `model` use.

    Raises:
        UserError: when the cost is limited and the model has no price.
    """
    price = price_of(configuration.prices, model, configuration.budget)
    return Limits(configuration.budget, price, configuration.children.max)


def price_of(prices: Mapping[str, Price], model: str, budget: Budget) -> Price | None:
    """What `model` costs, None where it has no price and `budget` asks for none.

    Raises:
        UserError: when the cost is limited and the model has no price.
    """
    price = prices.get(model)
    if budget.cost is not None and price is None:
        raise UserError(
            f"The cost is limited, and what {model} costs is not known; write its price for a million tokens into"
            f' config.toml, such as: [prices."{model}"] with input = 3.0 and output = 15.0.'
        )
    return price
