"""The verb `covey doctor`: reads its arguments, examines, prints."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from orchestrator.options import add_endpoint_options, endpoint_flags


def add_doctor_verbs(add: Callable[..., argparse.ArgumentParser]) -> None:
    doctor = add("doctor", help="look at all that covey needs here, and say what to do")
    doctor.set_defaults(verb=_doctor)
    doctor.add_argument("--json", action="store_true", help="print data instead of a view")
    add_endpoint_options(doctor, below=True)


def _doctor(arguments: argparse.Namespace) -> int:
    from worker.confinement.enforced import what_is_enforced

    enforced = what_is_enforced()  # while there is one thread: it forks
    from orchestrator.doctor.examinations import Patient, examine
    from orchestrator.doctor.findings import exit_code, finding_lines
    from orchestrator.printing.once import show_json, show_lines

    findings = examine(Patient(Path.cwd(), os.environ, endpoint_flags(arguments), enforced))
    if arguments.json:
        show_json(findings)
    else:
        show_lines(finding_lines(findings))
    return exit_code(findings)
