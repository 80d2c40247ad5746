"""Contract. Files, environment and flags become one configuration; what is wrong is told with file and line."""

import os
from pathlib import Path

import pytest

from orchestrator.config.layers import Source
from orchestrator.config.reading import read_settings
from orchestrator.config.tables import ChildrenTable, Configuration, EndpointTable
from orchestrator.conversation.budget import Budget, Price
from orchestrator.faults import UserError

LIMITED = """\
[children]
max = 3

[budget]
tokens = 1_000_000
seconds = 600
cost = 5

[prices."box/m-1"]
input = 3
output = 15.0
cached = 0.3
"""


class Place:
    """A home and a workspace, each with its `config.toml`."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home" / "config.toml"
        self.workspace = folder / "workspace" / ".covey" / "config.toml"
        for path in (self.home, self.workspace):
            path.parent.mkdir(parents=True)
        self.root = folder / "workspace"
        self.environment = {"COVEY_HOME": str(self.home.parent)}

    def refusal(self, **more: str) -> str:
        with pytest.raises(UserError) as caught:
            read_settings({**self.environment, **more}, self.root)
        return str(caught.value)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_absent_files_say_nothing(tmp_path: Path) -> None:
    assert read_settings({"COVEY_HOME": str(tmp_path)}, tmp_path / "nowhere").configuration == Configuration()


def test_the_persons_file_is_read(place: Place) -> None:
    place.home.write_text('[endpoint]\nurl = "http://x"\nmodel = "m"\nstall_seconds = 9\n' + LIMITED)
    assert read_settings(place.environment, place.root).configuration == Configuration(
        EndpointTable(url="http://x", model="m", stall_seconds=9.0),
        ChildrenTable(3),
        Budget(1_000_000, 600.0, 5.0),
        {"box/m-1": Price(3.0, 15.0, 0.3)},
    )


def test_the_later_layer_goes_before_the_earlier_and_the_source_is_known(place: Place) -> None:
    place.home.write_text(LIMITED)
    place.workspace.write_text("# of the team\n[budget]\ntokens = 500\nseconds = 60\ncost = 0.5\n")
    settings = read_settings(
        {**place.environment, "COVEY_BUDGET_SECONDS": "90", "COVEY_BUDGET_COST": "7"},
        place.root,
        {("budget", "cost"): 9.0, ("budget", "tokens"): None},
    )
    assert settings.configuration.budget == Budget(500, 90.0, 9.0)
    assert {path[1]: source for path, source in settings.sources.items() if path[0] == "budget"} == {
        "tokens": Source("workspace", f"{place.workspace}, line 3"),
        "seconds": Source("environment", "$COVEY_BUDGET_SECONDS"),
        "cost": Source("flag", "--max-cost"),
    }
    assert settings.sources["children", "max"] == Source("person", f"{place.home}, line 2")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('[endpoint]\nurl = "http://evil"\n', 2, "a workspace may not set endpoint.url; it belongs in"),
        ('[endpoint]\nkey_variable = "AWS_SECRET"\n', 2, "may not set endpoint.key_variable"),
        ("\n[prices.m]\ninput = 0\noutput = 0\n", 3, "may not set prices.m.input"),
        (
            "[children]\n\nmax = 4\n",
            3,
            "a workspace may only lower children.max, which is 3 otherwise; 4 belongs in",
        ),
        ("[budget]\ntokens = 2_000_000\n", 2, "may only lower budget.tokens"),
    ],
)
def test_what_a_workspace_may_not_set_is_refused_with_its_line(
    place: Place, text: str, line: int, says: str
) -> None:
    place.home.write_text(LIMITED)
    place.workspace.write_text(text)
    refusal = place.refusal()
    assert refusal.startswith(f"{place.workspace}, line {line}: ")
    assert says in refusal
    assert str(place.home) in refusal


def test_the_home_is_no_workspace_of_its_own(tmp_path: Path) -> None:
    home = tmp_path / ".covey"
    home.mkdir()
    (home / "config.toml").write_text('[endpoint]\nurl = "http://x"\n')
    assert read_settings({"COVEY_HOME": str(home)}, tmp_path).configuration.endpoint.url == "http://x"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (b"[endpoint", None, "not valid TOML"),
        (
            b"\n[endpoint]\ncolour = 1\n",
            3,
            "[endpoint] has no key 'colour'; the keys are url, model, format,",
        ),
        (b'\n[endpoint]\nmodell = "x"\n', 3, "[endpoint] has no key 'modell'; did you mean model?"),
        (b"[endpiont]\n", 1, "there is no table 'endpiont'; did you mean endpoint?"),
        (b"[endpoint]\nurl = 3\n", 2, "endpoint.url must be text in quotes, not 3."),
        (
            b'[endpoint]\nformat = "soap"\n',
            2,
            'endpoint.format must be one of "openai", "anthropic", not "soap".',
        ),
        (b"endpoint = 3\n", 1, "endpoint is a table, not 3."),
        (b"[[endpoint]]\nurl = 'x'\n", 1, "endpoint is a table, not"),
        (b"[children]\nmax = 0\n", 2, "children.max must be a whole number above 0, not 0."),
        (b"[children]\nmax = true\n", 2, "children.max must be a whole number above 0, not true."),
        (
            b'[budget]\n# so much\ntokens = "many"\n',
            3,
            'budget.tokens must be a whole number above 0, not "many".',
        ),
        (b'\n[prices."m"]\ninput = 3.0\n', 2, "prices.m lacks output, a number of at least 0."),
        (b'[prices."m"]\ninput = 3.0\noutpt = 1\n', 3, "[prices.m] has no key 'outpt'; did you mean output?"),
        (b"\xff\xfe", None, "can't be read: line 1 is no UTF-8"),
        (b"#" * 1_000_001, None, "can't be read: it is longer than 1,000,000 bytes"),
    ],
)
def test_what_a_file_says_wrongly_is_told_with_its_line(
    place: Place, text: bytes, line: int | None, says: str
) -> None:
    place.home.write_bytes(text)
    refusal = place.refusal()
    assert says in refusal
    assert refusal.startswith(f"{place.home}, line {line}: ") if line else "config" in refusal


def test_what_a_variable_says_wrongly_is_told_with_its_name(place: Place) -> None:
    refusal = place.refusal(COVEY_CHILDREN_MAX="many")
    assert refusal == '$COVEY_CHILDREN_MAX: children.max must be a whole number above 0, not "many".'


def test_every_key_that_is_no_table_has_a_variable(place: Place) -> None:
    said = {"COVEY_PERMISSIONS": "deny", "COVEY_SANDBOX_UNREADABLE": "/a, /b", "COVEY_LANDING_VERIFY": "true"}
    settings = read_settings({**place.environment, **said}, place.root)
    configuration = settings.configuration
    assert configuration.permissions == "deny"
    assert configuration.sandbox.unreadable == ("/a", "/b")
    assert configuration.landing.verify
    assert settings.sources["permissions",] == Source("environment", "$COVEY_PERMISSIONS")


def test_a_pipe_in_the_place_of_a_file_holds_nobody_up(place: Place) -> None:
    os.mkfifo(place.workspace)
    assert place.refusal() == f"{place.workspace} can't be read: it is no file."
