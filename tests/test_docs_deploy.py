"""What docs/deploy.md says of settings, metrics and logs is what the service has.

``make docs`` writes its tables anew.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tokengap.service.settings import Settings
from tokengap.service.telemetry import Metrics
from tokengap.tokenizers.registry import get_counter

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "deploy.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
MACHINE = {"threads": "one a core, at least 2"}
"""Defaults that depend on the machine."""


def settings_table() -> str:
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        written = ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
        shown = MACHINE.get(name) or ("none" if default in (None, ()) else f"`{written}`")
        rows.append(f"| `TOKENGAP_{name.upper()}` | {shown} | {field.description} |")
    return "\n".join(rows)


def metrics_table() -> str:
    metrics = Metrics()
    metrics.answered("/v1/count", 200, 0.001, 10)
    metrics.counted([get_counter("words").count("a")])
    metrics.unpriced("reason")
    metrics.prices("source", "version", "sha256")
    rows = ["| metric | type | labels | meaning |", "|---|---|---|---|"]
    for metric in metrics.registry.collect():
        name = f"{metric.name}_total" if metric.type == "counter" else metric.name
        labels = dict.fromkeys(label for sample in metric.samples for label in sample.labels if label != "le")
        rows.append(f"| `{name}` | {metric.type} | {', '.join(labels)} | {metric.documentation} |")
    return "\n".join(rows)


TABLES: dict[str, Callable[[], str]] = {"settings": settings_table, "metrics": metrics_table}


def _with_table(text: str, name: str) -> str:
    begin, end = f"<!-- {name}: written by `make docs` -->\n", f"<!-- end of {name} -->"
    return re.sub(f"(?<={begin}).*?(?={end})", lambda _: TABLES[name]() + "\n", text, flags=re.DOTALL)


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_those_of_the_service(name: str) -> None:
    assert _with_table(TEXT, name) == TEXT, "write it anew: make docs"


def test_every_setting_says_what_it_means() -> None:
    assert all(field.description for field in Settings.model_fields.values())


def test_every_metric_that_is_shown_is_in_the_table(server: Any) -> None:
    """In this process and in a running service: nothing else, and nothing less once something was counted."""
    server.post("/v1/count", {"input": "a", "model": "gpt-4o"})
    shown = set(re.findall(r"^# TYPE (tokengap_\w+?)(?:_created)? ", server.get("/metrics").text, re.MULTILINE))
    listed = {name.removesuffix("_total") for name in re.findall(r"^\| `(tokengap_\w+)` ", TEXT, re.MULTILINE)}
    assert {name.removesuffix("_total") for name in shown} == listed


def test_log_lines_have_the_form_that_is_shown(server: Any) -> None:
    (shown,) = re.findall(r"```json\n(\{.*\})\n```", TEXT)
    server.post("/v1/count", {"input": "never in a log"}, headers={"X-Request-Id": "shown-in-docs"})
    for _ in range(100):
        lines = [line for line in server.log.read_text().splitlines() if '"shown-in-docs"' in line]
        if lines:
            break
        time.sleep(0.05)
    example, line = json.loads(shown), json.loads(lines[0])
    assert list(line) == list(example)
    assert {name: type(value) for name, value in line.items()} == {name: type(value) for name, value in example.items()}
    assert [line[name] for name in ("event", "method", "route", "status")] == ["request", "POST", "/v1/count", 200]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
    assert "never in a log" not in server.log.read_text()


def test_compose_examples_fit_its_schema(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    file = tmp_path / "docker-compose.override.yml"
    file.write_text(example)
    check = Path(sys.executable).with_name("check-jsonschema")
    subprocess.run([check, "--builtin-schema", "vendor.compose-spec", file], check=True, capture_output=True)


@pytest.mark.slow
def test_newer_prices_are_used_and_named(serve: Callable[..., Any], tmp_path: Path) -> None:
    """As the document says: a file in genai-prices' format, named by the metric and by every answer."""
    model = {"id": "gpt-7", "match": {"equals": "gpt-7"}, "prices": [{"prices": {"input_mtok": 2, "output_mtok": 20}}]}
    provider = {"id": "openai", "name": "OpenAI", "api_pattern": "https://api\\.openai\\.com", "models": [model]}
    file = tmp_path / "data.json"
    file.write_text(json.dumps([provider]))
    with serve(price_data=str(file)) as server:
        answer = server.post("/v1/cost", {"model": "gpt-7", "input_tokens": 1_000_000, "output_tokens": 0})
        assert answer.status_code == 200, answer.text
        assert answer.json()["total"]["amount"] == "2"
        source = answer.json()["source"]
        assert source["table"] == str(file)
        assert source["version"] == f"file:{sha256(file.read_bytes()).hexdigest()[:12]}"
        shown = server.get("/metrics").text
    labels = f'{{sha256="{source["sha256"]}",source="{file}",version="{source["version"]}"}}'
    assert f"tokengap_price_data_info{labels} 1.0\n" in shown


def update() -> None:
    """Write the tables anew."""
    text = TEXT
    for name in TABLES:
        text = _with_table(text, name)
    if text != TEXT:
        DOCUMENT.write_text(text, encoding="utf-8")
        print(f"wrote {DOCUMENT.name}")


if __name__ == "__main__":
    update()
