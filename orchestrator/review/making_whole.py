"""A child whose session is over before its checkout was a folder with files in it: a person who looks at it gets one.

While its session lives, that writes it out, and a review reads what the child did from its layer.
"""

import msgspec

from merge.checkouts.checkout import CheckoutFailed
from merge.checkouts.leaving import keep_checkout
from merge.store.repository import Repository
from orchestrator.children.standing import Known, is_alive, own_repository
from orchestrator.faults import UserError
from orchestrator.review.outlook import checkout_of


def make_whole(repository: Repository, known: Known) -> Known:
    """Write out what the child saw, if it saw it in layers and nobody else will; the child as it stands then.

    Raises:
        UserError: when that can't be done; nothing is lost then.
    """
    if known.is_written or not known.is_whole or is_alive(known.row.owner):
        return known
    try:
        keep_checkout(own_repository(repository, known.row), checkout_of(known))
    except CheckoutFailed as error:
        raise UserError(str(error)) from error
    return msgspec.structs.replace(known, is_written=True)
