"""Contract. Policy files become layers of rules; one that is wrong is named with its line, and nothing is opened."""

from pathlib import Path

import pytest

from orchestrator.faults import UserError
from orchestrator.terms.policy_files import read_policy
from worker.policy.rules import Rule


class Place:
    """A home and a workspace, each with room for a policy."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home" / "policy.toml"
        self.workspace = folder / "workspace" / ".covey" / "policy.toml"
        for path in (self.home, self.workspace):
            path.parent.mkdir(parents=True)
        self.root = folder / "workspace"
        self.environment = {"COVEY_HOME": str(self.home.parent)}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_files_there_are_no_rules(place: Place) -> None:
    assert read_policy(place.environment, place.root).is_empty


def test_each_file_is_a_layer_and_permissions_the_last_word_of_the_persons(place: Place) -> None:
    place.home.write_text(
        '[[allow]]\ncommand = ["git status", "pytest -q"]\n\n'
        '[[deny]]\nkind = "Bash"\npath = "~/.ssh"\nreason = "Keys  are\\nmine."\n'
    )
    place.workspace.write_text(
        '[[ask]]\nkind = ["write", "MultiEdit"]\npath = ["./migrations/**", "*.pem"]\n'
    )
    policy = read_policy(place.environment, place.root, "ask")
    assert policy.layers == (
        (
            Rule(
                "allow",
                commands=(("git", "status"), ("pytest", "-q")),
                source="$COVEY_HOME/policy.toml, line 1",
            ),
            Rule(
                "deny",
                ("run_command",),
                (str(Path.home() / ".ssh"),),
                reason="Keys are mine.",
                source="$COVEY_HOME/policy.toml, line 4",
            ),
            Rule("ask", ("write", "shell"), source='permissions = "ask"', is_default=True),
        ),
        (Rule("ask", ("write", "edit"), ("migrations/**", "*.pem"), source=".covey/policy.toml, line 1"),),
    )


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (b"[[deny", None, "is not valid TOML"),
        (b"\xff", None, "line 1 is no UTF-8"),
        (
            b'[[denied]]\nkind = "shell"\n',
            1,
            "there is no 'denied' here; write [[allow]], [[ask]] or [[deny]]",
        ),
        (b'rules = "all"\n', 1, "there is no 'rules' here"),
        (b'\n[deny]\nkind = "shell"\n', 2, "write [[deny]], with two brackets"),
        (
            b'[[ask]]\nkind = "shell"\n[[ask]]\ncolour = "red"\n',
            3,
            "[[ask]] takes kind, path, command and reason",
        ),
        (b"[[ask]]\nkind = 3\n", 1, "each a text or a list of texts"),
        (b"[[ask]]\n", 1, "the rule says nothing; give kind, path or command"),
        (b'[[ask]]\nreason = "x"\n', 1, "the rule says nothing"),
        (b'[[ask]]\nkind = "shel"\n', 1, "there is no kind 'shel'; did you mean shell?"),
        (b'[[ask]]\nkind = "zzz"\n', 1, "the kinds are read, write, shell"),
        (b'[[ask]]\npath = "a"\ncommand = "b"\n', 1, "give path or command; for both, write two rules"),
        (b'[[ask]]\npath = "a[b"\n', 1, "never closes it"),
        (b'[[ask]]\npath = "../x"\n', 1, "'../x' is no path in a workspace, nor one from / or ~/"),
        (b'[[ask]]\npath = ""\n', 1, "'' is no path"),
        (b'[[ask]]\npath = "~root/x"\n', 1, "'~root/x' is no path"),
        (b'[[ask]]\ncommand = "git \'push"\n', 1, "can't be read: No closing quotation"),
        (b'[[ask]]\ncommand = "ls && x"\n', 1, "must be the plain words that a command begins with"),
        (b'[[ask]]\ncommand = "git *"\n', 1, "must be the plain words"),
        (b'[[ask]]\ncommand = ""\n', 1, "must be the plain words"),
    ],
)
@pytest.mark.parametrize("whose", ["home", "workspace"])
def test_a_file_that_is_wrong_stops_the_start(
    place: Place, whose: str, text: bytes, line: int | None, says: str
) -> None:
    path: Path = getattr(place, whose)
    path.write_bytes(text)
    with pytest.raises(UserError) as caught:
        read_policy(place.environment, place.root)
    assert str(caught.value).startswith(f"{path}, line {line}: " if line else f"{path} ")
    assert says in str(caught.value)


def test_a_file_that_cant_be_read_stops_the_start(place: Place) -> None:
    place.home.mkdir()
    with pytest.raises(UserError, match="it is no file"):
        read_policy(place.environment, place.root)


def test_the_home_as_a_workspace_is_one_layer(tmp_path: Path) -> None:
    home = tmp_path / ".covey"
    home.mkdir()
    (home / "policy.toml").write_text('[[deny]]\nkind = "shell"\n')
    assert len(read_policy({"COVEY_HOME": str(home)}, tmp_path).layers) == 1
