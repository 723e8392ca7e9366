"""The commands cost and prices: the forms that must exist, their exit codes, and one clear line for what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tokengap.service.cli import main

NOON = "2026-11-30T12:00:00Z"
DATA = Path(__file__).resolve().parent.parent / "data"
CASES: list[dict[str, Any]] = json.loads((DATA / "prices.json").read_bytes())["cases"]
OPTIONS = {
    "input": "--input-tokens",
    "output": "--output-tokens",
    "cache_read": "--cache-read",
    "cache_write": "--cache-write",
    "cache_write_1h": "--cache-write-1h",
}

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run in a folder without a configuration of its own or of a parent."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer(capture: Capture, *args: str, exit: int = 0) -> dict[str, Any]:
    assert main([*args, "--json"]) == exit
    shown = capture.readouterr()
    assert shown.err == ""
    found: dict[str, Any] = json.loads(shown.out)
    return found


def refusal(capture: Capture, *args: str) -> str:
    assert main(args) == 2
    shown = capture.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1
    assert shown.err.startswith("tokengap: ")
    return shown.err


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_published_prices(case: dict[str, Any], capsys: Capture) -> None:
    args = ["cost", "--model", case["model"], "--as-of", case["as_of"]]
    args += ["--provider", case["provider"]] if case["provider"] else []
    args += ["--variant", case["variant"]] if "variant" in case else []
    for name, count in case["usage"].items():
        args += [OPTIONS[name], str(count)]
    if case["id"] == "p23":
        assert "cache_read (8000) cannot be more than input (100)" in refusal(capsys, *args)
        return
    result = answer(capsys, *args, exit=2 if case["total_usd"] is None else 0)
    if case["total_usd"] is None:
        assert (result["status"], result["total"]) == ("unknown_model", None)
        assert result["suggestions"]
    else:
        assert result["status"] == "priced"
        assert result["total"]["currency"] == "USD"
        assert Decimal(result["total"]["amount"]) == Decimal(case["total_usd"])
        assert sum(Decimal(line["amount"]) for line in result["lines"]) == Decimal(case["total_usd"])


def test_a_price_given_with_the_call(capsys: Capture) -> None:
    result = answer(
        capsys,
        *("cost", "--input-tokens", "2006", "--cache-read", "1920", "--output-tokens", "300"),
        *("--price", "in=2.50,cache_read=1.25,out=10.00 USD"),
    )
    assert result["total"] == {"amount": "0.005615", "currency": "USD"}
    assert result["source"]["table"] == "given"


def test_known_but_unpriced_is_no_error(capsys: Capture) -> None:
    result = answer(capsys, "cost", "--model", "github-copilot/gpt-4o", "--input-tokens", "5", "--output-tokens", "5")
    assert (result["status"], result["total"]) == ("unpriced", None)


def test_unknown_model_exits_2_for_people_too(capsys: Capture) -> None:
    assert main(["cost", "--model", "gpt-99-super", "--input-tokens", "1"]) == 2
    shown = capsys.readouterr().out
    assert "unknown" in shown
    assert "did you mean" in shown
    assert "0.00" not in shown


def test_usage_from_a_file_and_from_stdin(nowhere: Path, capsys: Capture) -> None:
    usage = {
        "model": "gpt-4o-2024-08-06",
        "usage": {
            "prompt_tokens": 10000,
            "completion_tokens": 500,
            "total_tokens": 10500,
            "prompt_tokens_details": {"cached_tokens": 8000},
        },
    }
    (nowhere / "usage.json").write_text(json.dumps(usage))
    result = answer(capsys, "cost", "--usage", "usage.json", "--as-of", NOON)
    assert result["total"] == {"amount": "0.02", "currency": "USD"}
    program = [sys.executable, "-c", "import sys; from tokengap.service.cli import main; sys.exit(main())"]
    done = subprocess.run(
        [*program, "cost", "--usage", "-", "--as-of", NOON, "--json"],
        input=json.dumps(usage).encode(),
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["total"] == {"amount": "0.02", "currency": "USD"}


def test_a_month(capsys: Capture) -> None:
    result = answer(
        capsys,
        *("cost", "--model", "gpt-4o", "--input-tokens", "1200", "--output-tokens", "100/300/900"),
        *("--calls", "1000/2000/3000", "--cached-share", "60%", "--words", "900", "--words-factor", "2/3"),
        *("--as-of", NOON),
    )
    assert result["volume"]["cost"]["typical"] == {"amount": "10.2", "currency": "USD"}
    assert result["volume"]["words"]["typical"] == {"amount": "8.1", "currency": "USD"}
    assert result["volume"]["gap"]["typical"] == {"amount": "2.1", "currency": "USD"}
    assert result["volume"]["per"] == "month"
    assert result["total"] == {"amount": "0.0051", "currency": "USD"}


def test_files_of_prices(nowhere: Path, capsys: Capture) -> None:
    (nowhere / "tokengap.toml").write_text('[[prices]]\nmodel = "gpt-4o"\nmultiplier = "0.5"\n')
    (nowhere / "org.toml").write_text('[[prices]]\nmodel = "gpt-4o"\nin = "4 EUR/1M"\nout = "4 EUR/1M"\n')
    call = ("cost", "--model", "gpt-4o", "--input-tokens", "1000000")
    assert answer(capsys, *call)["total"] == {"amount": "1.25", "currency": "USD"}
    assert answer(capsys, *call, "--no-config")["total"] == {"amount": "2.5", "currency": "USD"}
    assert answer(capsys, *call, "--organisation-prices", "org.toml")["total"] == {"amount": "2", "currency": "EUR"}
    result = answer(capsys, *call, "--config", "tokengap.toml", "--exchange-rate", "1 USD = 0.8 EUR @ 2026-11-28")
    assert result["converted"] == {"amount": "1", "currency": "EUR"}


def test_people_see_every_amount(capsys: Capture) -> None:
    args = ["cost", "--model", "gemini-2.5-pro", "--input-tokens", "200001", "--output-tokens", "1", "--as-of", NOON]
    assert main([*args, "--exchange-rate", "1 USD = 0.92 EUR @ 2026-11-28"]) == 0
    shown = capsys.readouterr().out
    assert "2.5 USD/1M" in shown
    assert "0.000015 USD" in shown
    assert "0.5 USD" in shown.replace("0.50 USD", "0.5 USD")
    assert "EUR" in shown
    assert "above 200000" in shown
    assert "genai-prices 0.2.3, google/gemini-2.5-pro as of 2026-11-30T12:00:00Z" in shown


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "nothing to price"),
        (("--input-tokens", "5"), "a model is needed"),
        (("--model", "gpt-4o", "--input-tokens=-5"), "bad --input-tokens '-5'"),
        (("--model", "gpt-4o", "--input-tokens", "1.5"), "bad --input-tokens '1.5'"),
        (("--model", "gpt-4o", "--input-tokens", "1_000"), "bad --input-tokens"),
        (("--model", "gpt-4o", "--output-tokens", "nan"), "bad --output-tokens 'nan'"),
        (("--model", "gpt-4o", "--output-tokens", "1/2/3"), "bad --output-tokens"),
        (("--model", "gpt-4o", "--input-tokens", "5", "--cache-read", "6"), "contradictory usage"),
        (("--model", "gpt-4o", "--input-tokens", "5", "--variant", "Batch"), "unknown variant 'Batch'"),
        (
            ("--model", "gpt-4o", "--input-tokens", "5", "--variant", "batch", "--variant", "priority"),
            "batch and priority do not combine",
        ),
        (("--model", "gpt-4o", "--input-tokens", "5", "--variant", "flex"), "no flex price is known"),
        (("--input-tokens", "5", "--price", "3 USD", "--variant", "batch"), "leave out the variant"),
        (("--input-tokens", "5", "--price", "-3 USD"), "bad price"),
        (("--input-tokens", "5", "--price", "nan USD"), "bad price"),
        (("--model", "gpt-4o", "--input-tokens", "5", "--as-of", "soon"), "bad time 'soon'"),
        (("--model", "gpt-4o", "--input-tokens", "5", "--exchange-rate", "0.9"), "bad exchange rate"),
        (("--model", "gpt-4o", "--usage", "none.json"), "none.json: No such file"),
        (("--model", "gpt-4o", "--usage", "none.json", "--input-tokens", "5"), "--usage has the counts already"),
        (("--model", "gpt-4o", "--input-tokens", "5", "--usage-format", "gemini"), "--usage-format"),
        (("--model", "gpt-4o", "--input-tokens", "5", "--words", "4"), "give --calls too"),
        (("--model", "gpt-4o", "--output-tokens", "5", "--calls", "4"), "--calls needs --input-tokens"),
        (("--model", "gpt-4o", "--input-tokens", "5", "--calls", "4/3/2"), "must not fall"),
        (("--model", "gpt-4o", "--input-tokens", "5", "--calls", "4", "--cached-share", "2"), "bad share"),
        (("--model", "gpt-4o", "--input-tokens", "5", "--calls", "4", "--cache-read", "2"), "--cached-share"),
        (
            ("--model", "gpt-4o", "--input-tokens", "5", "--calls", "4", "--words", "2", "--words-factor", "1/0"),
            "bad --words-factor",
        ),
        (("--model", "gpt-4o", "--input-tokens", "5", "--config", "none.toml"), "cannot read none.toml"),
        (("--model", "gpt-4o", "--input-tokens", "5", "--price-data", "none.json"), "cannot read none.json"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_2(args: tuple[str, ...], message: str, capsys: Capture) -> None:
    assert message in refusal(capsys, "cost", *args)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"prompt_tokens": NaN}', "usage.json: prompt_tokens: NaN is not a JSON number"),
        ('{"prompt_tokens": 1, "prompt_tokens": 2}', "there twice"),
        ('{"prompt_tokens": -1}', "usage.prompt_tokens is -1"),
        ('{"prompt_tokens": 1.5}', "usage.prompt_tokens is 1.5"),
        ("{", "not JSON"),
        ("[]", "an object is needed"),
        ("[" * 100_000, "nested deeper than 100 levels"),
        ("\udcff", "not UTF-8 text"),
    ],
)
def test_a_usage_file_that_is_wrong(text: str, message: str, nowhere: Path, capsys: Capture) -> None:
    (nowhere / "usage.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert message in refusal(capsys, "cost", "--model", "gpt-4o", "--usage", "usage.json")


def test_prices(capsys: Capture) -> None:
    result = answer(capsys, "prices", "claude-sonnet-4-5", "--provider", "anthropic", "--as-of", NOON)
    (row,) = result["prices"]
    assert row["per_million"]["input"] == "3"
    assert (result["source"]["table"], result["source"]["version"]) == ("genai-prices", "0.2.3")
    assert answer(capsys, "prices")["providers"]["openai"] == 113
    assert main(["prices", "gpt-4o", "--provider", "openai"]) == 0
    assert "openai/gpt-4o: input=2.5,output=10,cache_read=1.25" in capsys.readouterr().out
    assert "no price matches 'gpt-99'" in refusal(capsys, "prices", "gpt-99")


def test_help_is_there(capsys: Capture) -> None:
    for command in ("cost", "prices"):
        assert main([command, "--help"]) == 0
        assert "--as-of" in capsys.readouterr().out


def test_a_request_is_counted_and_priced(nowhere: Path, capsys: Capture) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello, how are you?"}]}
    (nowhere / "r.json").write_text(json.dumps(body))
    result = answer(capsys, "cost", "--request", "r.json", "--output-tokens", "100", "--as-of", NOON)
    assert result["total"] == {"amount": "0.0010325", "currency": "USD"}
    assert (result["request"]["tokens"], result["request"]["kind"]) == (13, "reconstructed")
    month = answer(capsys, "cost", "--request", "r.json", "--output-tokens", "10/100/200", "--calls", "1000")
    assert month["volume"]["cost"]["typical"]["amount"] == "1.0325"
    assert "--request has the input" in refusal(capsys, "cost", "--request", "r.json", "--input-tokens", "5")


def test_what_a_request_says_of_itself_is_heeded(nowhere: Path, capsys: Capture) -> None:
    body: dict[str, Any] = {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}

    def total(request: object, *options: str) -> str:
        (nowhere / "r.json").write_text(json.dumps(request))
        result = answer(capsys, "cost", "--request", "r.json", "--output-tokens", "1000", "--as-of", NOON, *options)
        return str(result["total"]["amount"])

    standard = total(body)
    assert total({**body, "service_tier": "auto"}) == standard
    assert total({**body, "service_tier": "flex"}) == total(body, "--variant", "flex") != standard
    assert total({**body, "service_tier": "flex"}, "--variant", "standard") == standard
    line = {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": body}
    assert total(line) == total(body, "--variant", "batch") != standard
    assert total(line, "--variant", "standard") == standard
    (nowhere / "r.json").write_text(json.dumps({**body, "service_tier": "scale"}))
    assert "r.json: service_tier: no price is known for 'scale'" in refusal(capsys, "cost", "--request", "r.json")


def test_a_request_that_is_not_wholly_counted_is_priced_with_a_warning(nowhere: Path, capsys: Capture) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}], "previous_response_id": "r1"}
    (nowhere / "r.json").write_text(json.dumps(body))
    result = answer(capsys, "cost", "--request", "r.json")
    assert any("previous_response_id" in warning for warning in result["warnings"])


def test_an_unknown_model_of_a_request_has_its_json(nowhere: Path, capsys: Capture) -> None:
    (nowhere / "r.json").write_text(json.dumps({"messages": [{"role": "user", "content": "hi"}]}))
    assert main(["cost", "--request", "r.json", "--model", "gpt-99", "--json"]) == 2
    result = json.loads(capsys.readouterr().out)
    assert (result["status"], result["total"]) == ("unknown_model", None)
    assert result["suggestions"]
    assert "--input-tokens" in refusal(capsys, "cost", "--request", "r.json", "--model", "github-copilot/gpt-4o")


def test_the_price_of_a_request_carries_the_warnings_of_its_count(nowhere: Path, capsys: Capture) -> None:
    part = {"type": "image_url", "image_url": {"url": "https://example.org/y.png"}}
    (nowhere / "r.json").write_text(json.dumps({"messages": [{"role": "user", "content": [part]}]}))
    warnings = answer(capsys, "cost", "--request", "r.json", "--model", "gemini-2.5-pro")["warnings"]
    said = " ".join(warnings)
    assert "image_size_unknown: " in said
    assert "or nothing where that has no bound" in said
    assert "assumed_tokenizer: " in said


@pytest.mark.parametrize(
    ("counter", "tokenizer", "kind"),
    [("o200k_base", "o200k_base", "exact"), ("model:gpt-4", "cl100k_base", "heuristic"), (None, "o200k_base", "exact")],
)
def test_a_counter_is_exact_for_the_model_that_is_priced_only_where_it_is_its_own(
    counter: str | None, tokenizer: str, kind: str, nowhere: Path, capsys: Capture
) -> None:
    (nowhere / "r.json").write_text('{"prompt": "Hello, world", "model": "gpt-4o"}')
    options = ["--counter", counter] if counter else []
    result = answer(capsys, "cost", "--request", "r.json", *options)
    assert (result["request"]["tokenizer"], result["request"]["kind"]) == (tokenizer, kind)
    assert any("assumed_tokenizer: " in warning for warning in result["warnings"]) is (kind == "heuristic")


def lines(path: Path, *bodies: object) -> str:
    path.write_text("".join(json.dumps(body) + "\n" for body in bodies))
    return path.name


def test_requests_of_a_file_are_priced_each_and_together(nowhere: Path, capsys: Capture) -> None:
    messages = [{"role": "user", "content": "Hello, how are you?"}]
    name = lines(
        nowhere / "r.jsonl",
        {"model": "gpt-4o", "messages": messages},
        {"model": "gpt-5", "messages": messages, "service_tier": "flex"},
    )
    result = answer(capsys, "cost", "--request", name, "--output-tokens", "100", "--as-of", NOON)
    amounts = [each["total"]["amount"] for each in result["results"]]
    assert [each["name"] for each in result["results"]] == ["r.jsonl:1", "r.jsonl:2"]
    assert [each["variant"] for each in result["results"]] == [None, "flex"]
    assert (result["status"], Decimal(result["total"]["amount"])) == ("priced", sum(map(Decimal, amounts)))
    assert main(["cost", "--request", name, "--output-tokens", "100", "--as-of", NOON]) == 0
    out = capsys.readouterr().out
    assert "r.jsonl:2 (flex)" in out
    assert f"{result['total']['amount'][:6]}" in out


@pytest.mark.parametrize(
    ("model", "status", "code"), [("house-model", "unknown_model", 2), ("gpt-4-0613-x", "unknown_model", 2)]
)
def test_a_sum_with_an_unknown_model_is_unknown(
    model: str, status: str, code: int, nowhere: Path, capsys: Capture
) -> None:
    messages = [{"role": "user", "content": "hi"}]
    name = lines(nowhere / "r.jsonl", {"model": "gpt-4o", "messages": messages}, {"model": model, "messages": messages})
    assert main(["cost", "--request", name, "--json"]) == code
    result = json.loads(capsys.readouterr().out)
    assert (result["status"], result["total"]) == (status, None)
    assert result["subtotal"]["currency"] == "USD"


def test_several_requests_are_no_volume(nowhere: Path, capsys: Capture) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
    name = lines(nowhere / "r.jsonl", body, body)
    assert "--calls is for one call, and 2 requests are given" in refusal(
        capsys, "cost", "--request", name, "--calls", "5"
    )


def test_a_counter_prices_a_model_without_a_tokenizer(nowhere: Path, capsys: Capture) -> None:
    name = lines(
        nowhere / "r.json", {"model": "github-copilot/gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
    )
    assert "r.json: unknown model" in refusal(capsys, "cost", "--request", name)
    result = answer(capsys, "cost", "--request", name, "--counter", "o200k_base")
    assert result["request"]["tokens"] == 8


@pytest.mark.parametrize("command", ["count", "compare"])
def test_count_and_compare_price_a_request_at_its_tier(command: str, nowhere: Path, capsys: Capture) -> None:
    messages = [{"role": "user", "content": "Hello, how are you?"}]
    standard = {"model": "gpt-5", "messages": messages}
    name = lines(
        nowhere / "r.jsonl",
        standard,
        {**standard, "service_tier": "flex"},
        {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": standard},
        {**standard, "service_tier": "scale"},
    )
    result = answer(capsys, command, "--request", name, "--as-of", NOON)
    rows = [row for row in result["results"] if row["counter"] == "model:gpt-5"]
    costs = [row["cost"] and Decimal(row["cost"]["amount"]) for row in rows]
    assert costs[1] == costs[2] == costs[0] / 2
    assert costs[3] is None
    assert "unpriced" in rows[3]["warnings"]
    assert result["total"][0]["cost"] is None
    variants = [price["variant"] for price in result["prices"] if price["counter"] == "model:gpt-5"]
    assert variants == [None, "flex", "batch"]
    given = answer(capsys, command, "--request", name, "--price", "3 USD")
    assert given["total"][0]["cost"] is not None


@pytest.mark.parametrize("command", ["count", "compare"])
def test_counts_are_priced_with_the_warnings_of_their_price(command: str, capsys: Capture) -> None:
    day = answer(capsys, command, "--text", "hi", "--model", "deepseek/deepseek-chat", "--as-of", "2025-05-01")
    assert any(warning.startswith("bare_date: ") for price in day["prices"] for warning in price["warnings"])
    time = answer(capsys, command, "--text", "hi", "--model", "deepseek/deepseek-chat", "--as-of", "2025-05-01T12:00Z")
    assert not any(warning.startswith("bare_date: ") for price in time["prices"] for warning in price["warnings"])
    assert main([command, "--text", "hi", "--model", "azure/gpt-4o"]) == 0
    assert "model:azure/gpt-4o: borrowed_price: " in capsys.readouterr().err
    assert "bad time '2025-13-01'" in refusal(capsys, command, "--text", "hi", "--as-of", "2025-13-01")


def test_the_input_of_an_unknown_model_is_unknown(nowhere: Path, capsys: Capture) -> None:
    messages = [{"role": "user", "content": "hi"}]
    lines = [{"model": model, "messages": messages} for model in ("gpt-99-super", "gpt-4o")]
    (nowhere / "r.jsonl").write_text("\n".join(map(json.dumps, lines)))
    result = answer(capsys, "cost", "--request", "r.jsonl", "--output-tokens", "7", exit=2)
    assert [each["usage"] for each in result["results"]] == [{"input": None, "output": 7}, {"input": 8, "output": 7}]
    assert main(["cost", "--request", "r.jsonl", "--output-tokens", "7"]) == 2
    rows = [line.split()[:2] for line in capsys.readouterr().out.splitlines()[1:4]]
    assert rows == [["-", "7"], ["8", "7"], ["-", "14"]]
    (nowhere / "one.json").write_text(json.dumps(lines[0]))
    cached = answer(capsys, "cost", "--request", "one.json", "--cache-read", "5", exit=2)
    assert (cached["status"], cached["usage"]["input"]) == ("unknown_model", None)


def test_the_variant_overrules_a_usage(nowhere: Path, capsys: Capture) -> None:
    usage = {"prompt_tokens": 10**6, "completion_tokens": 0}
    (nowhere / "u.json").write_text(json.dumps({"model": "gpt-5", "service_tier": "flex", "usage": usage}))
    assert answer(capsys, "cost", "--usage", "u.json")["total"]["amount"] == "0.625"
    assert answer(capsys, "cost", "--usage", "u.json", "--variant", "standard")["total"]["amount"] == "1.25"
    assert "contradicts" in refusal(capsys, "cost", "--usage", "u.json", "--variant", "priority")


@pytest.mark.parametrize(
    "option",
    ["as-of", "config", "price-data", "organisation-prices", "provider", "exchange-rate", "cached-share", "price"],
)
@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_value_is_not_left_out(option: str, value: str, capsys: Capture) -> None:
    args = ("cost", "--model", "gpt-4o", "--input-tokens", "5", f"--{option}", value)
    assert f"--{option}: the value is empty" in refusal(capsys, *args)


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (("--calls", "9", "--words-factor", "2"), "--words-factor is how many tokens"),
        (("--config", "tokengap.toml", "--no-config"), "--config and --no-config exclude each other"),
        (("--model", "gpt-5"), "--model: is given twice"),
        (("--as-of", NOON, "--as-of", NOON), "--as-of: is given twice"),
    ],
)
def test_what_would_be_ignored_is_refused(args: tuple[str, ...], problem: str, capsys: Capture) -> None:
    assert problem in refusal(capsys, "cost", "--model", "gpt-4o", "--input-tokens", "5", *args)


def test_one_usage_at_a_time(nowhere: Path, capsys: Capture) -> None:
    (nowhere / "u.json").write_text('{"prompt_tokens": 1}')
    assert "--usage: is given twice" in refusal(capsys, "cost", "--usage", "u.json", "--usage", "u.json")


def test_people_see_the_variant_and_the_hours(capsys: Capture) -> None:
    tokens = ("--input-tokens", "5", "--as-of", "2026-11-30T02:00:00Z")
    assert main(["cost", "--model", "gpt-5", "--variant", "batch", *tokens]) == 0
    assert "batch, openai/gpt-5 as of" in capsys.readouterr().out
    assert main(["cost", "--model", "deepseek-v4-flash", *tokens]) == 0
    assert "rule: the price of the hours 01:00-04:00 UTC" in capsys.readouterr().out


RATE = "1 USD = 0.5 EUR @ 2026-11-28"


def test_several_requests_and_a_month_are_converted(nowhere: Path, capsys: Capture) -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello, how are you?"}]}
    (nowhere / "r.jsonl").write_text("\n".join([json.dumps(body)] * 2))
    options = ("--output-tokens", "100", "--as-of", NOON, "--exchange-rate", RATE)
    result = answer(capsys, "cost", "--request", "r.jsonl", *options)
    assert result["total"] == {"amount": "0.002065", "currency": "USD"}
    assert result["converted"] == {"amount": "0.0010325", "currency": "EUR"}
    assert result["exchange_rate"]["date"] == "2026-11-28"
    assert main(["cost", "--request", "r.jsonl", *options]) == 0
    assert "converted: 0.001033 EUR, at 0.5 of 2026-11-28" in capsys.readouterr().out
    month = ("cost", "--model", "gpt-4o", "--input-tokens", "1000000", "--calls", "2/4/6", *options[2:])
    assert answer(capsys, *month)["volume"]["converted"]["typical"] == {"amount": "5", "currency": "EUR"}
    assert main(month) == 0
    assert any(line.split()[:3] == ["converted", "2.50", "EUR"] for line in capsys.readouterr().out.splitlines())


def test_currencies_are_summed_each_by_itself(nowhere: Path, capsys: Capture) -> None:
    (nowhere / "tokengap.toml").write_text('[[prices]]\nmodel = "gpt-4"\nin = "1000 EUR/1M"\nout = "1000 EUR/1M"\n')
    messages = [{"role": "user", "content": "hi"}]
    lines = [{"model": model, "messages": messages} for model in ("gpt-4", "gpt-4o", "gpt-4")]
    (nowhere / "r.jsonl").write_text("\n".join(map(json.dumps, lines)))
    result = answer(capsys, "cost", "--request", "r.jsonl", "--as-of", NOON)
    assert (result["status"], result["total"]) == ("priced", None)
    totals = [{"amount": "0.016", "currency": "EUR"}, {"amount": "0.00002", "currency": "USD"}]
    assert result["totals"] == totals
    assert main(["cost", "--request", "r.jsonl", "--as-of", NOON]) == 0
    assert "0.016 EUR + 0.00002 USD  total" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--model", "gpt-4o", "--provider", "bedrock"), ("at provider 'aws'", "openai/gpt-4o")),
        (("--model", "openai/gpt-4o", "--provider", "azure"), ("its name says 'openai'", "at provider 'azure'")),
        (("--model", "house-modell"), ("did you mean house-model, of a price file",)),
    ],
)
def test_a_refusal_names_what_is_meant(nowhere: Path, capsys: Capture, args: tuple[str, ...], says: tuple[str]) -> None:
    (nowhere / "tokengap.toml").write_text('[[prices]]\nmodel = "house-model"\nin = "1 USD/1M"\n')
    result = answer(capsys, "cost", "--input-tokens", "5", *args, exit=2)
    assert all(part in result["warnings"][-1] for part in says)


def test_prices_show_what_cost_refuses(nowhere: Path, capsys: Capture) -> None:
    assert "unknown provider 'nope'" in refusal(capsys, "prices", "--provider", "nope")
    assert "did you mean openai" in refusal(capsys, "prices", "--provider", "opnai")
    dated = answer(capsys, "prices", "deepseek/deepseek-chat", "--as-of", "2026-11-30")
    assert any(warning.startswith("bare_date") for warning in dated["prices"][0]["warnings"])
    assert main(["prices", "gpt-4o", "--provider", "openai", "--as-of", NOON]) == 0
    assert "prices: genai-prices 0.2.3, as of 2026-11-30T12:00:00Z" in capsys.readouterr().out
    entry = '[[prices]]\nprovider = "my-cloud"\nmodel = "{}"\n{}\n'
    (nowhere / "tokengap.toml").write_text(
        entry.format("house", 'in = "1 USD/1M"')
        + entry.format("lost", 'multiplier = "2"\nbase = "no-such-model"')
        + entry.format("round", 'multiplier = "2"\nbase = "trip"')
        + entry.format("trip", 'multiplier = "2"\nbase = "round"')
    )
    assert answer(capsys, "prices")["providers"]["my-cloud"] == 4
    assert answer(capsys, "prices", "house")["prices"][0]["provider"] == "my-cloud"
    assert "prices[1].base: unknown model 'no-such-model'" in refusal(capsys, "prices", "lost")
    assert "circle" in refusal(capsys, "prices", "round")
