"""Which paths git ignores, where none of them is in an index."""

from collections.abc import Iterable

from merge.store.git import GitFailed, GitPlace, ask_git
from merge.store.trees import RepoPath


def ignored_of(place: GitPlace, paths: Iterable[RepoPath]) -> set[RepoPath]:
    """Those of the paths that the ignore files of the working tree at `place`, and of its repository, leave out.

    Raises:
        GitFailed: when git can't tell.
    """
    # With `./` in front, one that begins with a colon is no pattern.
    feed = b"".join(b"./" + path + b"\0" for path in paths)
    if not feed:
        return set()
    words = ("check-ignore", "--no-index", "-z", "--stdin")
    # It refuses to be told that every path is meant as it is.
    answer = ask_git(place, *words, feed=feed, environment={"GIT_LITERAL_PATHSPECS": "0"})
    if answer.status not in (0, 1):  # 1: none of them
        raise GitFailed(words, answer.status, answer.error)
    return {RepoPath(path.removeprefix(b"./")) for path in answer.fields()}
