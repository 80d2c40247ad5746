"""The verbs `covey sessions`, `covey watch` and `covey export`: reads their arguments."""

import argparse
from collections.abc import Callable
from pathlib import Path


def add_sessions_verbs(add: Callable[..., argparse.ArgumentParser]) -> None:
    sessions = add("sessions", help="list the sessions of this workspace")
    sessions.set_defaults(verb=_sessions)
    sessions.add_argument("--json", action="store_true", help="print data instead of a view")

    watch = add("watch", help="look at a session of this workspace, also one that runs elsewhere")
    watch.set_defaults(verb=_watch)
    watch.add_argument("session", nargs="?", help="its id or how that begins (default: the last one)")
    watch.add_argument("--terminal", action="store_true", help="line by line, without a window")

    export = add("export", help="print a session whole, as Markdown or as JSON")
    export.set_defaults(verb=_export)
    export.add_argument("session", nargs="?", help="its id or how that begins (default: the last one)")
    forms = export.add_mutually_exclusive_group()
    forms.add_argument("--markdown", action="store_true", help="a text to read (the default)")
    forms.add_argument("--json", action="store_true", help="every entry of its journal, and what went wrong")


def _sessions(arguments: argparse.Namespace) -> int:
    from orchestrator.review.finding import find_repository_here
    from orchestrator.sessions.listing import list_sessions

    return list_sessions(find_repository_here(Path.cwd()).root, as_json=arguments.json)


def _export(arguments: argparse.Namespace) -> int:
    from orchestrator.review.finding import find_repository_here
    from orchestrator.sessions.exporting import export_session

    root = find_repository_here(Path.cwd()).root
    return export_session(root, arguments.session, as_json=arguments.json)


def _watch(arguments: argparse.Namespace) -> int:
    import trio

    from orchestrator.parent.resuming import journal_path, session_named
    from orchestrator.review.finding import find_repository_here
    from orchestrator.screen_choice import can_be_window

    root = find_repository_here(Path.cwd()).root
    path = journal_path(root, session_named(root, arguments.session))
    if can_be_window() and not arguments.terminal:
        from orchestrator.window.run import watch_in_window

        return watch_in_window(path)
    from orchestrator.terminal.watch import watch_in_lines

    return trio.run(watch_in_lines, path)
