"""Pure. The commands in a shell text: none that could run is overlooked, and what can't be told is told as hidden."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.policy.command_part import Part
from worker.policy.shell_parts import shell_parts

PUSH = ("git", "push")

RUNS_IT = {
    "alone": "git push",
    "with more": "git push origin main --force",
    "after another": "ls && git push",
    "in a list": "ls; git push",
    "in the background": "sleep 1 & git push",
    "on a line of its own": "ls\ngit push\n",
    "behind a comment": "ls # nothing\ngit push",
    "in a pipeline": "yes | git push",
    "if another fails": "false || git push",
    "in a subshell": "(cd x; git push)",
    "in a group": "{ git push; }",
    "in a condition": "if true; then git push; fi",
    "in a loop": "for i in 1 2; do git push; done",
    "in a case": "case x in x) git push;; esac",
    "in a function": "f() { git push; }; f",
    "negated": "! git push",
    "substituted": "echo $(git push)",
    "in backticks": "echo `git push`",
    "within quotes": 'echo "$(git push)"',
    "two deep": 'echo "$(echo "$(git push)")"',
    "as a file": "diff <(git push) x",
    "in a default": "echo ${x:-$(git push)}",
    "with a variable set": "GIT_TRACE=1 git push",
    "by its path": "/usr/bin/git push",
    "quoted": "'git' \"push\"",
    "escaped": "g\\it pu\\sh",
    "quoted in part": "gi't' p\"us\"h",
    "over two lines": "git \\\n push",
    "with options": "git --no-pager -C sub push",
    "with a setting": "git -c user.name=x push",
    "with a value that can't be read": "git -C $DIR push",
    "as what may be it": "git $WHAT",
    "in braces": "git {push,x}",
    "by sudo": "sudo -u me git push",
    "by xargs": "echo x | xargs git push",
    "by env": "env A=1 git push",
    "by timeout": "timeout 5 git push",
    "by another shell": "bash -c 'git push'",
    "by eval": 'eval "git push"',
    "by find": "find . -exec git push {} \\;",
    "read from here": "bash <<'EOF'\ngit push\nEOF",
    "in an open here document": "cat <<EOF\n$(git push)\nEOF\n",
    "after a here document": "cat <<'EOF'\nx\nEOF\ngit push",
    "redirected": "git push > out.txt 2>&1",
    "with a redirection first": ">out git push",
}


@pytest.mark.parametrize("how", RUNS_IT)
def test_a_command_is_found_however_it_is_run(how: str) -> None:
    assert any(part.may_run(PUSH) for part in shell_parts(RUNS_IT[how])), shell_parts(RUNS_IT[how])


RUNS_IT_NOT = {
    "another word": "git pushx",
    "another program": "egit push",
    "another subcommand": "git status push",
    "a message": "git commit -m 'git push'",
    "searched for": "grep -r 'git push' docs",
    "echoed": "echo git push",
    "a comment": "ls # git push",
    "written to a file": "cat > notes <<'EOF'\ngit push\nEOF",
    "the end of a word": "ls git push",
}


@pytest.mark.parametrize("how", RUNS_IT_NOT)
def test_what_only_speaks_of_a_command_is_not_taken_for_it(how: str) -> None:
    parts = shell_parts(RUNS_IT_NOT[how])
    assert parts
    assert not any(part.may_run(PUSH) for part in parts), parts


STATUS = ("git", "status")

NOT_ALONE = {
    "chained": "git status && curl evil",
    "in a list": "git status; curl evil",
    "piped": "git status | sh",
    "in the background": "git status & curl evil",
    "on the next line": "git status\ncurl evil",
    "substituted": "git status $(curl evil)",
    "in backticks": "git status `curl evil`",
    "within quotes": 'git status "`curl evil`"',
    "as a file": "git status <(curl evil)",
    "written to a file": "git status > ~/.bashrc",
    "appended": "git status >> x",
    "both written": "git status &> x",
    "with a variable": "GIT_SSH_COMMAND=evil git status",
    "with an option between": "git -c core.pager=evil status",
    "another word": "git statusx",
    "by a path": "./git status",
    "its word expanded": "git $STATUS",
    "wrapped": "sudo git status",
    "not at all": "curl git status",
}


@pytest.mark.parametrize("how", NOT_ALONE)
def test_what_is_more_than_the_command_is_never_all_of_it(how: str) -> None:
    assert not all(part.begins_with(STATUS) for part in shell_parts(NOT_ALONE[how]))


@pytest.mark.parametrize(
    "text",
    [
        "git status",
        "git status --short 2>&1",
        "git status >/dev/null",
        "git status; git status -s",
        "git status && git status",
        "'git' status",
        "git status $HOME",
        "git status < list",
        "if git status; then git status -s; fi",
        "while git status; do git status; done",
    ],
)
def test_a_command_with_its_own_arguments_is_that_command(text: str) -> None:
    assert all(part.begins_with(STATUS) for part in shell_parts(text))


@pytest.mark.parametrize(
    "text", ["$G push", "$(which git) push", "`x` y", 'eval "$X"', "bash -c $X", "/bin/g?t push"]
)
def test_a_program_that_cant_be_told_is_hidden(text: str) -> None:
    assert any(part.is_hidden for part in shell_parts(text))


@pytest.mark.parametrize("text", ["git push", "ls $HOME", "echo $(date)", "python x.py"])
def test_a_program_that_is_named_is_not_hidden(text: str) -> None:
    assert not any(part.is_hidden for part in shell_parts(text))


def test_the_files_of_redirections_are_told() -> None:
    (part,) = shell_parts("sort < in.txt 2>> err.txt > out.txt 2>&1")
    assert (part.reads, part.writes) == (("in.txt",), ("err.txt", "out.txt"))
    assert part.words == ("sort",)
    assert not part.is_bare


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("rm x", True),
        ("sed -i s/a/b/ x", True),
        ("git checkout x", True),
        ("cat x", False),
        ("sed -n 1p x", False),
    ],
)
def test_a_program_that_writes_to_its_files_is_known(text: str, changes: bool) -> None:
    assert shell_parts(text)[0].changes_files is changes


def test_nothing_is_no_command() -> None:
    assert shell_parts("") == shell_parts(" \n # only a comment") == []


def test_a_text_that_is_nested_without_end_is_hidden_and_ends() -> None:
    parts = shell_parts("$(" * 5_000 + "git push")
    assert Part in {type(part) for part in parts}
    assert any(part.is_hidden for part in parts)


@given(st.text(alphabet="git push$(){}`'\"\\<>|&;\n#=EOF-", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    for part in shell_parts(text):
        part.may_run(PUSH)
        part.begins_with(PUSH)


@given(st.text(alphabet="ab$(){}`'\"\\<>|&;\n#= ", max_size=30))
def test_a_command_behind_a_closed_text_is_seen(before: str) -> None:
    quotes = before.count("'") or before.count('"') or before.count("`") or before.count("\\")
    if not quotes and "<<" not in before and "(" not in before and "{" not in before:
        assert any(part.may_run(PUSH) for part in shell_parts(f"{before}\ngit push"))
