"""Pure. What a session may use, from the configuration and the model's price."""

import pytest

from orchestrator.config.limits import Limits, choose_limits
from orchestrator.config.tables import ChildrenTable, Configuration
from orchestrator.conversation.budget import Budget, Price
from orchestrator.faults import UserError

PRICE = Price(3.0, 15.0, 0.3)


def test_budget_price_and_children_are_put_together() -> None:
    configuration = Configuration(
        children=ChildrenTable(3), budget=Budget(1_000_000, 600.0, 5.0), prices={"box/m-1": PRICE}
    )
    assert choose_limits(configuration, "box/m-1") == Limits(Budget(1_000_000, 600.0, 5.0), PRICE, 3)
    assert choose_limits(Configuration(), "m") == Limits()


def test_a_cost_is_limited_only_for_a_model_whose_price_is_known() -> None:
    limited = Configuration(budget=Budget(cost=1.0), prices={"other": Price(1.0, 2.0)})
    with pytest.raises(UserError, match=r'what m costs is not known; .*prices\."m"'):
        choose_limits(limited, "m")
