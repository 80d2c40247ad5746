"""Reviewing what children left: kept checkouts shown, landed again, dropped; landings undone; what is over forgotten.

`verbs` are the words of the command line. Each verb is a file that finds children (`finding`), looks at them
(`outlook`, `detail`) or deals with them (`concluding`), and prints lines made by pure views.
"""
