"""Settings that cannot work keep the service from starting, with one line that says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokengap.service.cli import main
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
        ("COUNTERS", "o200k_base,o200k", "no counter has the name 'o200k'"),
        ("COUNTERS", "o200k_base,bpe", "'bpe' opens files of the caller's choice"),
        ("COUNTERS", "words", "preload names 'o200k_base', which is not among the counters"),
        ("PRELOAD", "cl100k", "preload names 'cl100k', which is not among the counters"),
        ("PRELOAD", "words:0", "bad setting TOKENGAP_PRELOAD: "),
        ("WORK_SECONDS", "0", "greater than 0"),
        ("THREADS", "two", "valid integer"),
        ("LOG_LEVEL", "loud", "'debug', 'info', 'warning' or 'error'"),
        ("API_KEYS_FILE", "/there/is/none", "/there/is/none"),
        ("PRICES", "/there/is/none", "/there/is/none"),
        ("PRICE_DATA", "/there/is/none", "/there/is/none"),
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
