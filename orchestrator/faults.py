"""What a person is told when something can't be done: one sentence, printed plain, exit 1."""

from typing import cast


class UserError(Exception):
    """Raised when a person's input or set-up is at fault. `str()` names the thing and the remedy."""

    exit_code = 1


def one_fault(error: BaseException) -> UserError | None:
    """The person's fault that `error` is, or that all of a group are, perhaps several times; None for any other."""
    if isinstance(error, UserError):
        return error
    if not isinstance(error, BaseExceptionGroup):
        return None
    group = cast("BaseExceptionGroup[BaseException]", error)
    faults = [one_fault(each) for each in group.exceptions]
    return None if None in faults else faults[0]


def refusal_in(error: BaseException) -> OSError | None:
    """The system's refusal that `error` is, or that all of a group are; None for any other."""
    if isinstance(error, OSError):
        return error
    if not isinstance(error, BaseExceptionGroup):
        return None
    group = cast("BaseExceptionGroup[BaseException]", error)
    refusals = [refusal_in(each) for each in group.exceptions]
    return None if None in refusals else refusals[0]


class CantRecord(UserError):
    """Raised when what a session must write down can't be, as on a full disk: then the session ends.

    What its children did until then is in their checkouts, and the next start finds it.
    """

    exit_code = 3  # a turn was aborted
