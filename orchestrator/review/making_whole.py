"""A child whose session died under way, before a person looks at it: its checkout becomes a folder with files in it."""

from merge.checkouts.checkout import CheckoutFailed
from merge.checkouts.leaving import keep_checkout
from merge.store.repository import Repository
from orchestrator.faults import UserError
from orchestrator.review.finding import Known, own_repository
from orchestrator.review.outlook import checkout_of


def make_whole(repository: Repository, known: Known) -> None:
    """Write out what the child saw, if it saw it in layers.

    Raises:
        UserError: when that can't be done; nothing is lost then.
    """
    if not known.is_whole:
        return
    try:
        keep_checkout(own_repository(repository, known.row), checkout_of(known))
    except CheckoutFailed as error:
        raise UserError(str(error)) from error
