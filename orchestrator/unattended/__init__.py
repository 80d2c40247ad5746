"""Without a person: one request, a list of steps, or a goal, worked off to an exit code and a receipt.

`requests` reads what is asked, `courses` says what is done with it, `run` carries it out, `exit_codes` judges it and
`receipts` writes down what came of it.
"""
