"""What a person is told when something can't be done: one sentence, printed plain, exit 1."""

from typing import TypeVar, cast

_E = TypeVar("_E", bound=BaseException)


class UserError(Exception):
    """Raised when a person's input or set-up is at fault. `str()` names the thing and the remedy."""

    exit_code = 1


def one_fault(error: BaseException, kinds: tuple[type[_E], ...]) -> _E | None:
    """The fault of one of these kinds that `error` is, or that all of a group are, perhaps several times; or None."""
    if isinstance(error, kinds):
        return error
    if not isinstance(error, BaseExceptionGroup):
        return None
    group = cast("BaseExceptionGroup[BaseException]", error)
    faults = [one_fault(each, kinds) for each in group.exceptions]
    return None if None in faults else faults[0]


class CantRecord(UserError):
    """Raised when what a session must write down can't be, as on a full disk: then the session ends.

    What its children did until then is in their checkouts, and the next start finds it.
    """

    exit_code = 3  # a turn was aborted
