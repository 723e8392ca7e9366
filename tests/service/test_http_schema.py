"""The service against its own OpenAPI document: no 5xx, and no answer that the document does not have."""

from __future__ import annotations

import os
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema import Draft202012Validator
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tokengap.service.app import create_app
from tokengap.service.settings import Settings

DOCUMENT = create_app(Settings()).openapi()
CASES = [
    (method, path, mode)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or "requestBody" in operation or "parameters" in operation
]
EXAMPLES = 300 if os.environ.get("TOKENGAP_SLOW") else 15


@pytest.mark.parametrize(("method", "path", "mode"), CASES)
def test_every_answer_is_one_that_is_documented(server: Any, method: str, path: str, mode: GenerationMode) -> None:
    operation = schemathesis.openapi.from_dict(DOCUMENT)[path][method]

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        # What a price, a counter or a request may say goes beyond what a schema can.
        case.call_and_validate(base_url=server.url, excluded_checks=[positive_data_acceptance])

    check()


OPERATIONS = [
    (path, method, operation) for path, methods in DOCUMENT["paths"].items() for method, operation in methods.items()
]
IS_OPEN = {"/healthz", "/readyz", "/metrics"}


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
def test_every_operation_says_what_it_does_needs_and_may_answer(path: str, method: str, operation: Any) -> None:
    assert operation["description"]
    assert {"405", "408", "431"} <= operation["responses"].keys()
    assert (operation.get("security") == []) == (path in IS_OPEN)
    for status, response in operation["responses"].items():
        headers = response["headers"].keys()
        assert "X-Request-Id" in headers
        assert ("Retry-After" in headers) == (status in ("429", "503"))


def test_keys_and_headers_are_described() -> None:
    schemes = DOCUMENT["components"]["securitySchemes"]
    assert {scheme.get("name", scheme.get("scheme")) for scheme in schemes.values()} == {
        *("bearer", "X-Api-Key", "X-Goog-Api-Key")
    }
    assert DOCUMENT["security"] == [{}, *({name: []} for name in schemes)]
    counted = DOCUMENT["paths"]["/v1/messages/count_tokens"]["post"]["responses"]["200"]["headers"]
    assert {"X-Tokengap-Kind", "X-Tokengap-Interval", "X-Tokengap-Warnings", "request-id"} <= counted.keys()
    count = DOCUMENT["paths"]["/v1/count"]["post"]["responses"]
    assert "model" in count["404"]["description"]
    assert "too much to do" in count["503"]["description"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/count", {"request": None, "model": "gpt-4o"}),
        ("/v1/count", {"input": "a", "counters": []}),
        ("/v1/count", {"input": "a", "as_of": "soon"}),
        ("/v1/count", {"input": "a", "price": "3"}),
        ("/v1/fit", {"input": "a"}),
        ("/v1/cost", {"model": "gpt-4o", "usage": {}, "usage_format": "nope"}),
        ("/v1/responses/input_tokens", {"model": None, "input": "a"}),
        ("/v1/responses/input_tokens", {"model": "gpt-4o"}),
        ("/v1/messages/count_tokens", {"messages": [{"role": "user", "content": "a"}]}),
        ("/v1beta/models/{model}:countTokens", {}),
        ("/tokenize", {"prompt": None}),
    ],
)
def test_what_the_service_refuses_the_document_does_not_allow(server: Any, path: str, body: Any) -> None:
    schema = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    whole = {**schema, "components": DOCUMENT["components"]}
    assert not Draft202012Validator(whole).is_valid(body)
    assert server.post(path.replace("{model}", "gemini-2.5-pro"), body).status_code in (400, 422)


def test_a_whole_number_may_be_written_with_a_point(server: Any) -> None:
    body = {"model": "gpt-4o", "input_tokens": 1000.0, "output_tokens": 1e2, "as_of": "2026-11-30T12:00:00Z"}
    assert server.post("/v1/cost", body).json()["total"] == {"amount": "0.0035", "currency": "USD"}
    body = {"model": "gpt-4o", "input": "Order 778301 never came", "calls": 2e5}
    assert server.post("/v1/compare", body).json()["gap"]["volume"]["calls"] == 200_000
    assert server.post("/v1/cost", {"model": "gpt-4o", "input_tokens": 1.5}).status_code == 422
