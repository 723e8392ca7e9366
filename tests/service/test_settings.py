"""Settings that cannot work keep the service from starting, with one line that says why."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from tokengap.service.cli import main
from tokengap.service.environment import read_settings
from tokengap.service.serve_cli import listeners
from tokengap.service.settings import Settings


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("RATE_LIMIT", "often", "'often' is not one limit, such as '600/minute'"),
        ("RATE_LIMIT", "0/minute", "'0/minute' is not one limit"),
        ("RATE_LIMIT", "600/minute; 5/second", "is not one limit"),
        ("REDIS_URL", "http://user:hidden@host", "not the address of a Redis, such as redis://:PASSWORD@HOST:6379/0"),
        ("REDIS_URL", "redis://:hidden@host:port/0", "not the address of a Redis"),
        ("REDIS_URL", "redis://", "not the address of a Redis"),
        ("TRUSTED_PROXIES", "proxy", "'proxy' does not appear to be an IPv4 or IPv6 network"),
        ("TRUSTED_PROXIES", "10.0.0.1/8", "10.0.0.1/8 has host bits set; write addresses and networks"),
        *(
            ("CORS_ORIGINS", f"https://app.example,{origin}", f"'{origin}' is no origin as browsers send it")
            for origin in (
                "foo",
                "app.example",
                "https://",
                "https://app.example/",
                "https://app.example/page",
                "https://App.example",
                "HTTPS://app.example",
                "https://*.example",
                "https://app.example:443",
                "http://app.example:80",
                "https://user@app.example",
            )
        ),
        ("COUNTERS", "o200k_base,o200k", "no counter has the name 'o200k'"),
        ("COUNTERS", "o200k_base,bpe", "'bpe' opens files of the caller's choice"),
        ("PRELOAD", "cl100k", "preload names 'cl100k', which is not among the counters"),
        ("PRELOAD", "words:0", "bad setting TOKENGAP_PRELOAD: "),
        ("WORK_SECONDS", "0", "greater than 0"),
        ("THREADS", "two", "valid integer"),
        ("LOG_LEVEL", "loud", "'debug', 'info', 'warning' or 'error'"),
        ("API_KEYS_FILE", "/there/is/none", "bad setting TOKENGAP_API_KEYS_FILE: /there/is/none: No such file"),
        ("API_KEYS_FILE", "/", "bad setting TOKENGAP_API_KEYS_FILE: /: Is a directory"),
        ("API_KEYS_FILE", "", "bad setting TOKENGAP_API_KEYS_FILE: no key is in it"),
        ("API_KEYS", "", "bad setting TOKENGAP_API_KEYS: no key is in it"),
        ("API_KEYS", ",", "bad setting TOKENGAP_API_KEYS: no key is in it"),
        ("API_KEYS", " , ,", "bad setting TOKENGAP_API_KEYS: no key is in it"),
        ("PRICES", "/there/is/none", "bad setting TOKENGAP_PRICES: cannot read /there/is/none: No such file"),
        ("PRICE_DATA", "/there/is/none", "bad setting TOKENGAP_PRICE_DATA: cannot read /there/is/none: No such file"),
        ("API_KEY", "x", "no setting has the name TOKENGAP_API_KEY: did you mean TOKENGAP_API_KEYS?"),
        ("RATE_LIMT", "5/minute", "no setting has the name TOKENGAP_RATE_LIMT: did you mean TOKENGAP_RATE_LIMIT?"),
        ("ZZZ", "hidden", "no setting has the name TOKENGAP_ZZZ: docs/deploy.md lists them"),
        ("PORT", "9000", "no setting has the name TOKENGAP_PORT: say --port"),
        ("HOST", "10.0.0.1", "no setting has the name TOKENGAP_HOST: say --host"),
    ],
)
def test_a_wrong_setting_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(f"TOKENGAP_{name}", value)
    assert main(["serve", "--port", "0"]) == 2
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    assert said in lines[0]
    assert "hidden" not in lines[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no key is in it"),
        (b"\n# team\n  \n", "no key is in it"),
        (b"\xef\xbb\xbf# team\n", "no key is in it"),
        (b"caf\xe9\n", "byte 3 is not UTF-8"),
    ],
)
def test_a_file_without_a_key_does_not_open_the_service(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path, content: bytes, said: str
) -> None:
    file = tmp_path / "keys"
    file.write_bytes(content)
    monkeypatch.setenv("TOKENGAP_API_KEYS_FILE", str(file))
    assert main(["serve", "--port", "0"]) == 2
    assert capfd.readouterr().err.startswith(f"tokengap: error: bad setting TOKENGAP_API_KEYS_FILE: {file}: {said}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WORKERS", "2"),
        ("SLOW", "1"),
        ("UPDATE_DOCS", "1"),
        ("PORT", "tcp://10.0.0.1:80"),
        ("PORT_8000_TCP", "tcp://10.0.0.1:80"),
        ("PORT_8000_TCP_ADDR", "10.0.0.1"),
        ("SERVICE_HOST", "10.0.0.1"),
        ("SERVICE_PORT", "80"),
        ("SERVICE_PORT_HTTP", "80"),
        ("WEB_SERVICE_HOST", "10.0.0.1"),
        ("WEB_PORT", "tcp://10.0.0.1:80"),
    ],
)
def test_names_of_others_are_left_alone(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """Of this project's other parts, and those that Kubernetes sets for a service of this name."""
    monkeypatch.setenv(f"TOKENGAP_{name}", value)
    assert read_settings() == Settings()


def test_lists_are_written_with_commas_and_empty_is_unset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("# of teams\nthird\n\n fourth \n")
    monkeypatch.setenv("TOKENGAP_API_KEYS", "first, second,")
    monkeypatch.setenv("TOKENGAP_API_KEYS_FILE", str(tmp_path / "keys"))
    monkeypatch.setenv("TOKENGAP_TRUSTED_PROXIES", "10.0.0.7, 172.16.0.0/12,::1")
    for name in ("RATE_LIMIT", "REDIS_URL", "MAX_TEXTS", "PRICES", "PRELOAD"):
        monkeypatch.setenv(f"TOKENGAP_{name}", "")
    settings = Settings()
    assert settings.keys() == ("first", "second", "third", "fourth")
    assert [settings.rate_limit, settings.redis_url, settings.prices] == [None] * 3
    assert settings.max_texts == 1000
    assert settings.preload == ("o200k_base", "cl100k_base")
    assert "first" not in repr(settings)


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_port_in_use_is_one_line(capfd: pytest.CaptureFixture[str], host: str, workers: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--host", host, "--port", str(port), "--workers", workers]) == 2
    said = capfd.readouterr().err
    assert said == (
        f"tokengap: error: cannot listen on {host}, port {port}: Address already in use; see --host and --port\n"
    )


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(
    "host", ["203.0.113.7", "no-such-host.invalid", "300.1.1.1", "a..b", "x" * 70, "::ffff:1:2:3:4:5:6:7:8"]
)
def test_an_address_that_is_not_here_is_one_line(capfd: pytest.CaptureFixture[str], host: str, workers: str) -> None:
    assert main(["serve", "--host", host, "--port", "0", "--workers", workers]) == 2
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"tokengap: error: cannot listen on {host}, port 0: ")


def test_all_addresses_of_a_name_have_one_port() -> None:
    with ExitStack() as stack:
        bound = [stack.enter_context(listener) for listener in listeners("localhost", 0)]
        assert bound
        assert len({listener.getsockname()[1] for listener in bound}) == 1


def test_origins_as_browsers_send_them(monkeypatch: pytest.MonkeyPatch) -> None:
    origins = ("https://app.example", "http://localhost:3000", "https://a.example:80", "chrome-extension://abc", "*")
    monkeypatch.setenv("TOKENGAP_CORS_ORIGINS", ", ".join(origins))
    assert read_settings().cors_origins == origins


def test_of_the_default_those_are_preloaded_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENGAP_COUNTERS", "words,o200k_base")
    assert Settings().preload == ("o200k_base",)
    monkeypatch.setenv("TOKENGAP_COUNTERS", "words")
    assert Settings().preload == ()
