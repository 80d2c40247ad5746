"""Whether the model's endpoint answers, and has the model that is asked for."""

from collections.abc import Mapping

import msgspec
import trio

from orchestrator.config.endpoint_choice import NoEndpoint, choose_endpoint
from orchestrator.config.tables import Configuration
from orchestrator.config.toml_lines import KeyPath
from orchestrator.doctor.findings import Finding
from orchestrator.faults import UserError
from orchestrator.gateway.endpoint import Endpoint, Format
from orchestrator.gateway.gateway import load_transport, wire_format_of
from worker.model import AnyModelFailure

_PATIENCE_SECONDS = 15.0


def look_at_endpoint(
    environment: Mapping[str, str], configuration: Configuration, flags: Mapping[KeyPath, str | None]
) -> list[Finding]:
    """The endpoint that these name together, and its model. Asks it, and blocks."""
    try:
        endpoint = choose_endpoint(
            environment,
            configuration,
            url=flags.get(("endpoint", "url")),
            model=flags.get(("endpoint", "model")),
            format=msgspec.convert(flags.get(("endpoint", "format")), Format | None),
        )
    except NoEndpoint:
        says = "no model endpoint is configured"
        remedy = "Name one with --endpoint URL --model NAME, or in [endpoint] of your config.toml."
        return [Finding("endpoint", "fault", says, remedy)]
    except UserError as error:
        return [Finding("endpoint", "fault", str(error), "Correct it, or name another with --endpoint.")]
    models = trio.run(_list_models, endpoint)
    where = f"{endpoint.base_url} ({endpoint.format})"
    if isinstance(models, AnyModelFailure):
        remedy = "See that the address is right, the server runs, and the key is the one for it."
        return [Finding("endpoint", "fault", f"{where}: {models}", remedy)]
    return [Finding("endpoint", "ok", f"{where} answers"), _look_for(endpoint.model, models)]


def _look_for(model: str, models: tuple[str, ...] | None) -> Finding:
    if models is None:
        return Finding(
            "model", "note", f"{model}; whether the endpoint has it is not known, because it lists none"
        )
    if model in models:
        return Finding("model", "ok", model)
    more = " and more" if len(models) > 8 else ""
    remedy = f"It lists {', '.join(models[:8])}{more}; name one with --model."
    return Finding("model", "fault", f"the endpoint does not list {model}", remedy)


async def _list_models(endpoint: Endpoint) -> tuple[str, ...] | AnyModelFailure | None:
    patient = msgspec.structs.replace(endpoint, stall_seconds=min(endpoint.stall_seconds, _PATIENCE_SECONDS))
    transport = load_transport(patient, wire_format_of(patient.format))
    if isinstance(transport, AnyModelFailure):
        return transport
    try:
        return await transport.list_models()
    finally:
        await transport.aclose()
