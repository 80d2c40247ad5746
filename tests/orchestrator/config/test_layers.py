"""Pure. Whatever layers say, they come to a configuration or to one sentence; a workspace never loosens."""

import datetime
from collections.abc import Mapping

from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.config.layers import Layer, Settings, lay_over
from orchestrator.config.shape import keys_of
from orchestrator.config.tables import Configuration
from orchestrator.faults import UserError

TABLES = list(keys_of(Configuration))
KEYS = sorted({name for key in keys_of(Configuration).values() if key.table for name in keys_of(key.table)})

scalars = st.one_of(
    st.booleans(),
    st.integers(-5, 50),
    st.floats(),
    st.sampled_from(["", "allow", "deny", "ask", "plain", "classic", "/x", "5"]),
    st.just(datetime.date(2026, 1, 1)),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from([*KEYS, "x y"]), inner, max_size=3)
    ),
    max_leaves=6,
)
saids = st.dictionaries(st.sampled_from([*TABLES, "endpiont"]), values, max_size=3)


def settle(*layers: Layer) -> Settings | str:
    try:
        return lay_over(layers)
    except UserError as error:
        return str(error)


def layer(name: str, said: Mapping[str, object]) -> Layer:
    return Layer(
        "workspace" if name == "workspace" else "person", said, lambda path: f"{name}:{'.'.join(path)}"
    )


@given(saids, saids)
@example({"prices": {"m": {"input": 1, "output": 2}}}, {"prices": {"m": 3}})
def test_layers_come_to_a_configuration_or_to_a_sentence(
    person: dict[str, object], workspace: dict[str, object]
) -> None:
    settled = settle(layer("person", person), layer("workspace", workspace))
    if isinstance(settled, str):
        assert settled.startswith(("person:", "workspace:"))
        assert settled.endswith((".", "?"))
    else:
        assert all(source.layer in ("person", "workspace") for source in settled.sources.values())


@given(
    st.integers(1, 9) | st.none(),
    st.integers(1, 9) | st.none(),
    st.sampled_from(["allow", "ask", "deny"]),
    st.sampled_from(["allow", "ask", "deny"]),
)
def test_a_workspace_is_as_tight_as_the_person_or_refused(
    most: int | None, lower: int | None, permissions: str, tighter: str
) -> None:
    person = {"permissions": permissions, **({"children": {"max": most}} if most else {})}
    workspace = {"permissions": tighter, **({"children": {"max": lower}} if lower else {})}
    settled = settle(layer("person", person), layer("workspace", workspace))
    order = ["allow", "ask", "deny"]
    loosens = order.index(tighter) < order.index(permissions) or (lower and most and lower > most)
    if loosens:
        assert isinstance(settled, str)
        assert "a workspace may only" in settled
    else:
        assert isinstance(settled, Settings)
        assert settled.configuration.permissions == tighter
        assert settled.configuration.children.max == (lower or most)
