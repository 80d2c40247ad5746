"""Pure. Which rule decides: the most specific of a layer, of equals the strictest, of layers the strictest."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.policy.rules import (
    Allow,
    Ask,
    Decision,
    Deny,
    Policy,
    Request,
    Rule,
    Target,
    Verdict,
    closed_globs,
    closed_places,
    decide,
)

ROOT = "/w"


def policy(*layers: tuple[Rule, ...]) -> Policy:
    return Policy(layers)


def rule(
    verdict: Verdict, kind: str = "", *, path: str = "", command: str = "", default: bool = False
) -> Rule:
    return Rule(
        verdict,
        tuple(kind.split()),
        tuple(path.split()),
        (tuple(command.split()),) if command else (),
        is_default=default,
    )


def runs(command: str, *named: Target) -> Request:
    return Request("run_command", "shell", ROOT, named, command)


def touches(access: str, *paths: str) -> Request:
    tool = {"write": "edit", "read": "read"}[access]
    return Request(tool, access, ROOT, tuple(Target(f"{ROOT}/{path}", f"{ROOT}/{path}") for path in paths))


def word(decision: Decision) -> str:
    return type(decision).__name__.lower()


PERSON = (
    rule("ask", "write shell", default=True),
    rule("allow", command="git status"),
    rule("allow", command="git"),
    rule("deny", command="git push"),
    rule("ask", command="git push --dry-run"),
    rule("allow", "write", path="docs/**"),
    rule("deny", path="secrets"),
    rule("allow", path="secrets/public"),
    rule("deny", path="*.pem"),
    rule("ask", "write", path="migrations/**"),
    rule("deny", "lsp"),
)

COMMANDS = {
    "git status": "allow",
    "git log": "allow",
    "git status && git log": "allow",
    "git push": "deny",
    "git push origin": "deny",
    "git push --dry-run": "ask",
    "git -C . push": "deny",
    "git status && git push": "deny",
    "git status; rm -rf /": "ask",
    "git pushx": "allow",
    "git log > x": "ask",
    "git $X": "deny",
    "$X push": "ask",
    "pytest": "ask",
    "": "ask",
    "bash -c 'git push'": "deny",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_judged_by_the_strictest_of_its_parts(command: str) -> None:
    assert word(decide(policy(PERSON), runs(command))) == COMMANDS[command]


FILES = {
    ("write", "docs/a.md"): "allow",
    ("write", "src/a.py"): "ask",
    ("read", "src/a.py"): "allow",
    ("read", "secrets/key"): "deny",
    ("read", "secrets"): "deny",
    ("read", "secretsx"): "allow",
    ("read", "secrets/public/key"): "allow",
    ("write", "secrets/public/key"): "allow",
    ("read", "deep/in/x.pem"): "deny",
    ("write", "docs/x.pem"): "deny",
    ("write", "migrations/1.sql"): "ask",
    ("read", "migrations/1.sql"): "allow",
}


@pytest.mark.parametrize(("access", "path"), FILES)
def test_a_file_is_judged_by_the_most_specific_path(access: str, path: str) -> None:
    assert word(decide(policy(PERSON), touches(access, path))) == FILES[access, path]


def test_one_file_that_is_denied_denies_the_call() -> None:
    assert word(decide(policy(PERSON), touches("write", "docs/a.md", "secrets/key"))) == "deny"


def test_a_tool_by_its_name_comes_before_its_kind() -> None:
    rules = (rule("deny", "read"), rule("allow", "search"))
    request = Request("search", "read", ROOT)
    assert decide(policy(rules), request) == Allow()
    assert word(decide(policy(rules), Request("read", "read", ROOT))) == "deny"


def test_a_link_is_judged_by_where_it_leads_and_where_it_stands() -> None:
    link = Target(f"{ROOT}/docs/note.md", f"{ROOT}/secrets/key")
    request = Request("read", "read", ROOT, (link,))
    assert word(decide(policy(PERSON), request)) == "deny"
    out = Target(f"{ROOT}/docs/note.md", "/home/ada/note.md")
    assert word(decide(policy(PERSON), Request("edit", "write", ROOT, (out,)))) == "ask"


def test_a_path_from_the_root_of_the_disk_is_matched_as_a_whole() -> None:
    rules = (rule("deny", path="/home/ada/.ssh"),)
    key = Target("/home/ada/.ssh/id", "/home/ada/.ssh/id")
    assert word(decide(policy(rules), Request("read", "read", ROOT, (key,)))) == "deny"
    assert decide(policy(rules), touches("read", "home/ada/.ssh/id")) == Allow()


def test_a_file_that_a_command_names_is_denied_and_never_allowed_by_its_path() -> None:
    key = Target(f"{ROOT}/secrets/key", f"{ROOT}/secrets/key", "read")
    doc = Target(f"{ROOT}/docs/a", f"{ROOT}/docs/a", "read")
    assert word(decide(policy(PERSON), runs("git diff x", key))) == "deny"
    assert word(decide(policy(PERSON), runs("cp x docs/a", doc))) == "ask"


def test_a_rule_about_edits_holds_for_commands_that_write() -> None:
    rules = policy((rule("deny", "write", path="tests/**"),))
    reads = Target(f"{ROOT}/tests/a.py", f"{ROOT}/tests/a.py", "read")
    writes = Target(f"{ROOT}/tests/a.py", f"{ROOT}/tests/a.py", "written")
    assert decide(rules, runs("pytest tests/a.py", reads)) == Allow()
    assert word(decide(rules, runs("rm tests/a.py", writes))) == "deny"


def test_without_rules_everything_is_allowed() -> None:
    assert decide(Policy(), runs("rm -rf /")) == Allow()
    assert Policy().is_empty
    assert Policy(((),)).is_empty


STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}

RULES = [
    rule(verdict, kind, path=path, command=command)
    for verdict, (kind, path, command) in itertools.product(
        ("allow", "ask", "deny"),
        [
            ("shell", "", ""),
            ("write", "", ""),
            ("", "a", ""),
            ("", "*.pem", ""),
            ("", "", "git"),
            ("", "", "git push"),
        ],
    )
]


@given(
    st.lists(st.sampled_from(RULES), max_size=5),
    st.lists(st.sampled_from(RULES), max_size=5),
    st.sampled_from(
        [runs("git push"), runs("ls; git log"), touches("write", "a/b.pem"), touches("read", "a")]
    ),
)
def test_a_workspace_never_loosens_what_the_person_says(
    person: list[Rule], here: list[Rule], request: Request
) -> None:
    alone = decide(policy(tuple(person)), request)
    both = decide(policy(tuple(person), tuple(here)), request)
    assert STRICTNESS[word(both)] >= STRICTNESS[word(alone)]


GRANTS = {
    "git push origin main": "commands that begin with git push",
    "git push --force": "commands that begin with git push",
    "make": "the command make",
    "ls -la": "the command ls -la",
    "rm -rf build": "the command rm -rf build",
    "git push > x": "the command git push > x",
    "sudo rm x": "the command sudo rm x",
    "git push $X": "the command git push $X",
    "echo 'a b'": "the command echo 'a b'",
}


@pytest.mark.parametrize("command", GRANTS)
def test_what_a_session_would_allow_is_a_subcommand_or_this_very_command(command: str) -> None:
    asks = policy((rule("ask", "write shell"),))
    assert decide(asks, runs(command)) == Ask((GRANTS[command],))


def test_each_part_of_a_command_is_granted_by_itself() -> None:
    asks = policy((rule("ask", "shell"), rule("allow", command="ls")))
    decision = decide(asks, runs("ls && npm test && git push"))
    assert decision == Ask(("commands that begin with npm test", "commands that begin with git push"))


def test_an_edit_that_a_path_rule_asks_about_is_granted_for_those_paths_alone() -> None:
    asks = policy((rule("ask", "write"), rule("ask", "write", path="migrations/**")))
    assert decide(asks, touches("write", "a.py")) == Ask(("every edit",))
    assert decide(asks, touches("write", "migrations/1")) == Ask(("edits of migrations/**",))


def test_a_refusal_says_the_rules_reason_and_where_it_stands() -> None:
    rules = (Rule("deny", ("shell",), reason="Not here.", source="policy.toml, line 3"),)
    assert decide(policy(rules), runs("ls")) == Deny("Not here. (policy.toml, line 3)")


def test_places_that_nothing_may_read_can_be_closed_by_the_kernel() -> None:
    layers = (
        (
            rule("deny", path="/home/ada/.ssh /home/ada/mail/"),
            rule("deny", "read", path="/srv/keys"),
            rule("deny", "write", path="/srv/data"),
            rule("deny", path="/srv/*.pem secrets"),
            rule("deny", path="/opt"),
            rule("allow", path="/opt/tools"),
        ),
        (rule("deny", path="/home/ada/.gnupg"),),
    )
    assert closed_places(policy(*layers)) == [
        "/home/ada/.ssh",
        "/home/ada/mail",
        "/srv/keys",
        "/home/ada/.gnupg",
    ]


def test_files_that_may_not_simply_be_read_are_left_out_of_a_search() -> None:
    assert closed_globs(policy(PERSON)) == ["secrets", "*.pem"]
