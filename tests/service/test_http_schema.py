"""The service against its own OpenAPI document: no 5xx, and no answer that the document does not have."""

from __future__ import annotations

import os
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
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
