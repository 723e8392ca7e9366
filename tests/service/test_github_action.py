"""The composite GitHub Action: its steps run as they stand in action.yml, in the environment GitHub documents.

The variables and files are those of GitHub's documentation of default environment variables, workflow commands and
events; the API is a server on this machine that speaks as GitHub's does about comments.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from tokengap.estimators import check_budgets, read_configuration
from tokengap.estimators.budget_recording import record

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_bytes())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
INSTALL = "Install tokengap"
EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")

pytestmark = pytest.mark.system


class GitHub:
    """GitHub's API for the comments of one pull request, number 7 of octo/prompts."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.requests: list[str] = []
        self.status: int | None = None  # what every request is answered with, where it is set
        self.tokens: set[str] = set()
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                hub.answer(self, "GET")

            def do_POST(self) -> None:
                hub.answer(self, "POST")

            def do_PATCH(self) -> None:
                hub.answer(self, "PATCH")

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler, method: str) -> None:
        url = urlsplit(request.path)
        body = json.loads(request.rfile.read(int(request.headers.get("Content-Length") or 0)) or "null")
        self.requests.append(f"{method} {request.path}")
        self.tokens.add(request.headers.get("Authorization") or "")
        status, answer = self.status or 404, {"message": "Not Found"}
        if self.status is None and request.headers.get("Accept") == "application/vnd.github+json":
            status, answer = self._route(method, url.path, parse_qs(url.query), body)
        data = json.dumps(answer).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json; charset=utf-8")
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)

    def _route(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> tuple[int, Any]:
        if (method, path) == ("GET", "/repos/octo/prompts/issues/7/comments"):
            size, page = int(query.get("per_page", ["30"])[0]), int(query.get("page", ["1"])[0])
            return 200, self.comments[size * (page - 1) : size * page]
        if (method, path) == ("POST", "/repos/octo/prompts/issues/7/comments"):
            self.comments.append({"id": len(self.comments) + 1, "body": body["body"]})
            return 201, self.comments[-1]
        edited = re.fullmatch(r"/repos/octo/prompts/issues/comments/(\d+)", path)
        if method == "PATCH" and edited and int(edited[1]) <= len(self.comments):
            self.comments[int(edited[1]) - 1]["body"] = body["body"]
            return 200, self.comments[int(edited[1]) - 1]
        return 404, {"message": "Not Found"}


@dataclass
class Job:
    """One run of the action: what each step printed, and what it left."""

    folder: Path
    exit_code: int = 0
    log: str = ""
    outputs: dict[str, str] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        return (self.folder / "summary.md").read_text()


@pytest.fixture
def github() -> Iterator[GitHub]:
    hub = GitHub()
    yield hub
    hub.close()


Act = Callable[..., Job]


@pytest.fixture
def act(tmp_path: Path, github: GitHub, program: Callable[[str], str]) -> Act:
    """Run the action's steps on a checkout, for an event."""
    for name in ("bash", "curl", "jq"):
        program(name)
    runs = iter(range(100))

    def call(
        checkout: Path,
        inputs: dict[str, str] | None = None,
        *,
        event: str = "pull_request",
        head: str = "octo/prompts",
        sources: Path | None = None,
    ) -> Job:
        job = Job(tmp_path / f"run{next(runs)}")
        temp = job.folder / "temp"
        temp.mkdir(parents=True)
        if sources is None:  # installed by the first step, earlier in the same job
            (temp / "tokengap").symlink_to(sys.prefix)
        (job.folder / "summary.md").touch()
        pull = {"number": 7, "head": {"repo": {"full_name": head}}, "base": {"ref": "main"}}
        (job.folder / "event.json").write_text(json.dumps({"pull_request": pull} if "pull" in event else {}))
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(job.folder),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(sources or ROOT),
            "GITHUB_API_URL": github.url,
            "GITHUB_BASE_REF": "main" if "pull" in event else "",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(job.folder / "event.json"),
            "GITHUB_HEAD_REF": "change" if "pull" in event else "",
            "GITHUB_OUTPUT": str(job.folder / "output"),
            "GITHUB_REPOSITORY": "octo/prompts",
            "GITHUB_STEP_SUMMARY": str(job.folder / "summary.md"),
            "GITHUB_WORKSPACE": str(checkout),
            "RUNNER_TEMP": str(temp),
        }
        values = {"github.token": "ghs_secret"}
        for name, given in ACTION["inputs"].items():
            values[f"inputs.{name}"] = (inputs or {}).get(name, _filled(given["default"], values))
        for step in STEPS:
            _run_step(step, job, env, values, checkout)
            if job.exit_code:
                break
        job.outputs = {name: _filled(output["value"], values) for name, output in ACTION["outputs"].items()}
        return job

    return call


def _filled(text: str, values: dict[str, str]) -> str:
    """A text with the expressions in it evaluated, which here are all names; GitHub makes unknown ones empty."""
    return EXPRESSION.sub(lambda found: values.get(found[1], ""), text)


def _run_step(step: dict[str, Any], job: Job, env: dict[str, str], values: dict[str, str], checkout: Path) -> None:
    assert step["shell"] == "bash"
    script = job.folder / "script.sh"
    script.write_text(_filled(step["run"], values))
    output = Path(env["GITHUB_OUTPUT"])
    output.write_text("")
    own = {name: _filled(value, values) for name, value in step.get("env", {}).items()}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],  # what "shell: bash" stands for
        cwd=checkout,
        env=env | own,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=300,
    )
    job.log += done.stdout.decode()
    job.exit_code = done.returncode
    for line in output.read_text().splitlines():
        name, _, value = line.partition("=")
        values[f"steps.{step.get('id')}.outputs.{name}"] = value


CONFIG = """\
model = "gpt-4o"
prices_at = 2026-11-30

[[budget]]
name = "prompts"
paths = ["prompts/*.md"]
max_tokens = 100
max_cost = "0.001 USD"
"""
LINE = "You are a helpful assistant.\n"


@dataclass
class Origin:
    """A repository on GitHub, and its checkouts as actions/checkout makes them."""

    folder: Path
    git: Callable[..., str]

    def commit(self, files: dict[str, str], branch: str = "main", start: str | None = None) -> None:
        self.git(self.folder, "checkout", "--quiet", *(["-B", branch, start] if start else ["-B", branch]))
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git(self.folder, "add", "--all")
        self.git(self.folder, "commit", "--quiet", "--message", "Change prompts")

    def pull_request(self, files: dict[str, str]) -> Path:
        """A checkout of the merge of a change, one commit deep."""
        self.commit(files, "change", "main")
        self.git(self.folder, "checkout", "--quiet", "--detach", "main")
        self.git(self.folder, "merge", "--quiet", "--no-ff", "--message", "Merge", "change")
        self.git(self.folder, "update-ref", "refs/pull/7/merge", "HEAD")
        return self.checkout("refs/pull/7/merge")

    def checkout(self, ref: str) -> Path:
        checkout = self.folder.parent / f"checkout{len(list(self.folder.parent.glob('checkout*')))}"
        self.git(self.folder, "init", "--quiet", str(checkout))
        self.git(checkout, "remote", "add", "origin", self.folder.as_uri())
        self.git(checkout, "fetch", "--quiet", "--no-tags", "--depth=1", "origin", ref)
        self.git(checkout, "checkout", "--quiet", "--detach", "FETCH_HEAD")
        return checkout


@pytest.fixture
def origin(tmp_path: Path, git: Callable[..., str]) -> Origin:
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")  # as on GitHub
    repository = Origin(folder, git)
    repository.commit({"tokengap.toml": CONFIG, "prompts/system.md": LINE * 6, "README.md": "A repository.\n"})
    return repository


def test_a_change_within_budget(act: Act, origin: Origin, github: GitHub) -> None:
    job = act(origin.pull_request({"prompts/system.md": LINE * 8}))
    assert job.exit_code == 0, job.log
    assert job.outputs == {"tokens": "48", "cost": "0.00012 USD", "passed": "true"}
    (comment,) = github.comments
    assert comment["body"].startswith("<!-- tokengap-report -->\n")
    for report in (comment["body"], job.summary):
        assert "prompts" in report
        assert "+12" in report
    assert github.tokens == {"Bearer ghs_secret"}
    assert "ghs_secret" not in job.log


def test_a_broken_budget(act: Act, origin: Origin, github: GitHub) -> None:
    job = act(origin.pull_request({"prompts/system.md": LINE * 20}))
    assert job.exit_code == 1
    assert job.outputs["passed"] == "false"
    assert "::error " in job.log
    assert "file=prompts/system.md,line=1" in job.log
    assert "20 more than" in github.comments[0]["body"]
    assert "20 more than" in job.summary


def test_one_comment_is_kept_up_to_date(act: Act, origin: Origin, github: GitHub) -> None:
    """Also where it is not on the first page of comments, and for each configuration one."""
    github.comments = [{"id": number, "body": f"Comment {number}"} for number in range(1, 151)]
    assert act(origin.pull_request({"prompts/system.md": LINE * 20})).exit_code == 1
    assert len(github.comments) == 151
    assert act(origin.pull_request({"prompts/system.md": LINE * 7})).exit_code == 0
    assert len(github.comments) == 151
    assert "+6" in github.comments[150]["body"]
    assert github.requests[-2].endswith("per_page=100&page=2")

    files = {"other.toml": CONFIG, "prompts/system.md": LINE * 8}
    assert act(origin.pull_request(files), {"config": "other.toml"}).exit_code == 0
    assert [comment["body"].splitlines()[0] for comment in github.comments[150:]] == [
        "<!-- tokengap-report -->",
        "<!-- tokengap-report other.toml -->",
    ]


def test_a_fork_has_its_report_in_the_summary(act: Act, origin: Origin, github: GitHub) -> None:
    job = act(origin.pull_request({"prompts/system.md": LINE * 20}), head="fork/prompts")
    assert job.exit_code == 1
    assert github.requests == []
    assert "::notice title=tokengap::The pull request is from a fork" in job.log
    assert "20 more than" in job.summary


@pytest.mark.parametrize(("status", "said"), [(403, "pull-requests: write"), (422, "answered 422")])
def test_no_comment_is_no_failure(act: Act, origin: Origin, github: GitHub, status: int, said: str) -> None:
    github.status = status
    job = act(origin.pull_request({"prompts/system.md": LINE * 7}))
    assert job.exit_code == 0, job.log
    assert "::notice title=tokengap::No comment could be written" in job.log
    assert said in job.log
    assert "+6" in job.summary


def test_what_changes_nothing_is_not_commented_on(act: Act, origin: Origin, github: GitHub) -> None:
    job = act(origin.pull_request({"README.md": "A better one.\n"}))
    assert (job.exit_code, github.comments) == (0, [])
    act(origin.pull_request({"prompts/system.md": LINE * 7}))
    act(origin.pull_request({"README.md": "A better one.\n"}))
    (comment,) = github.comments
    assert "+6" not in comment["body"], "an earlier comment is brought up to date all the same"


def test_what_was_so_before_is_not_commented_on(act: Act, origin: Origin, github: GitHub) -> None:
    origin.commit({"prompts/system.md": LINE * 20})
    job = act(origin.pull_request({"README.md": "A better one.\n"}))
    assert (job.exit_code, github.comments) == (0, []), job.log
    assert "it was over on the base already" in job.log


def test_comments_can_be_turned_off(act: Act, origin: Origin, github: GitHub) -> None:
    assert act(origin.pull_request({"prompts/system.md": LINE * 20}), {"comment": "false"}).exit_code == 1
    assert github.requests == []


def test_a_push(act: Act, origin: Origin, github: GitHub) -> None:
    job = act(origin.checkout("refs/heads/main"), event="push")
    assert job.exit_code == 0, job.log
    assert job.outputs["tokens"] == "36"
    assert github.requests == []


def test_a_wrong_configuration(act: Act, origin: Origin, github: GitHub) -> None:
    """It fails, and the comment does not go on saying what held before."""
    act(origin.pull_request({"prompts/system.md": LINE * 7}))
    job = act(origin.pull_request({"tokengap.toml": CONFIG.replace("max_tokens", "max_token")}))
    assert job.exit_code == 2
    assert job.outputs == {"tokens": "", "cost": "", "passed": "false"}
    assert "::error file=tokengap.toml,line=7,title=tokengap::tokengap: error: tokengap.toml:7: budget[0]" in job.log
    (comment,) = github.comments
    for report in (job.log, comment["body"], job.summary):
        assert "did you mean 'max_tokens'?" in report
    assert comment["body"].splitlines()[0] == "<!-- tokengap-report -->"
    assert comment["body"].splitlines()[1:] == job.summary.splitlines()
    fork = act(origin.pull_request({"tokengap.toml": CONFIG.replace("max_tokens", "max_token")}), head="fork/prompts")
    assert fork.exit_code == 2
    assert "the report is in the step summary" in fork.log
    assert "did you mean 'max_tokens'?" in fork.summary


def test_a_failure_that_is_at_no_line(act: Act, origin: Origin, github: GitHub) -> None:
    job = act(origin.pull_request({"README.md": "x"}), {"config": "100%.toml", "comment": "false"})
    assert job.exit_code == 2
    assert "::error title=tokengap::tokengap: error: cannot read 100%25.toml: " in job.log
    assert "cannot read 100%.toml: " in job.summary
    job = act(origin.pull_request({"a,100%.toml": "model = 3"}), {"config": "a,100%.toml", "comment": "false"})
    assert "::error file=a%2C100%25.toml,line=1,title=tokengap::" in job.log


def test_a_missing_price(act: Act, origin: Origin, github: GitHub) -> None:
    config = CONFIG.replace('model = "gpt-4o"', "").replace("name =", 'counter = "o200k_base"\nname =')
    # The tokens are known all the same.
    job = act(origin.pull_request({"tokengap.toml": config}))
    assert job.exit_code == 3, job.log
    assert job.outputs == {"tokens": "36", "cost": "", "passed": "false"}


@pytest.mark.parametrize(
    ("baseline", "change"),
    [
        ("", "+6"),
        ("main", "+6"),
        ("release", "+12"),
        ("none", None),
        ("no-such-branch", None),
    ],
)
def test_baselines(act: Act, origin: Origin, github: GitHub, baseline: str, change: str | None) -> None:
    origin.commit({"prompts/system.md": LINE * 5}, "release", "main")
    job = act(origin.pull_request({"prompts/system.md": LINE * 7}), {"baseline": baseline})
    assert job.exit_code == 0, job.log
    assert (change or "42") in job.summary
    assert ("could not be fetched" in job.log) == (baseline == "no-such-branch")


@pytest.mark.parametrize("name", ["base", "base.json"])
def test_a_file_is_a_baseline_whatever_its_name(act: Act, origin: Origin, github: GitHub, name: str) -> None:
    files = {"prompts/system.md": (LINE * 5).encode()}
    checked = check_budgets(read_configuration(CONFIG.encode(), "tokengap.toml"), files)
    recording = record(zip(checked.plans, checked.report.budgets, strict=True))
    job = act(origin.pull_request({"prompts/system.md": LINE * 7, name: recording}), {"baseline": name})
    assert job.exit_code == 0, job.log
    assert "+12" in job.summary
    assert "could not be fetched" not in job.log


def test_a_full_clone_and_a_checkout_of_the_head(act: Act, origin: Origin) -> None:
    """Without a merge commit it is the base branch that counts, and a full clone stays one."""
    origin.pull_request({"prompts/system.md": LINE * 7})
    checkout = origin.folder.parent / "full"
    origin.git(origin.folder, "clone", "--quiet", "--branch", "change", origin.folder.as_uri(), str(checkout))
    job = act(checkout)
    assert job.exit_code == 0, job.log
    assert "+6" in job.summary
    assert not (checkout / ".git" / "shallow").exists()


def test_paths(act: Act, origin: Origin) -> None:
    config = CONFIG + CONFIG[CONFIG.index("[[budget]]") :].replace("prompts", "others")
    files = {"tokengap.toml": config, "others/a b.md": LINE, "prompts/system.md": LINE * 20}
    job = act(origin.pull_request(files), {"paths": "others/a b.md\n\n"})
    assert job.exit_code == 0, job.log
    assert job.outputs["tokens"] == "6"


HOSTILE = "$(touch pwned) `touch pwned` \"; touch pwned; \" '; touch pwned; ' ${{ x }}\n--allow-missing\n\n"


@pytest.mark.parametrize(
    ("names", "exit_code"), [(("config", "token"), 2), (("baseline", "comment"), 1), (("paths", "token"), 2)]
)
def test_inputs_are_never_code(act: Act, origin: Origin, names: tuple[str, ...], exit_code: int) -> None:
    job = act(origin.pull_request({"prompts/system.md": LINE * 20}), dict.fromkeys(names, HOSTILE))
    assert job.exit_code == exit_code, job.log
    assert not list(origin.folder.parent.rglob("pwned"))


def test_no_expression_stands_in_a_script() -> None:
    for step in STEPS:
        assert not EXPRESSION.search(step["run"]), step["name"]
        assert "${{" not in step["run"]


@pytest.mark.slow
def test_from_the_first_step_on(act: Act, origin: Origin, github: GitHub, sources: Path) -> None:
    """With the installation, as the first use in a job does it."""
    job = act(origin.pull_request({"prompts/system.md": LINE * 8}), sources=sources)
    assert job.exit_code == 0, job.log
    assert job.outputs["tokens"] == "48"
    assert len(github.comments) == 1


@pytest.mark.parametrize("name", ["budgets.yml", "scanning.yml"])
def test_the_documented_workflows(name: str, act: Act, origin: Origin, documented: Callable[[str], str]) -> None:
    """Each step of them that is ours or a command; those of others are taken to have done their part."""
    workflow = yaml.safe_load(documented(f".github/workflows/{name}"))
    (job,) = workflow["jobs"].values()
    checkout = origin.pull_request({"prompts/system.md": LINE * 8})
    origin.git(checkout, "fetch", "--quiet", "--unshallow", "origin", "main:refs/remotes/origin/main")
    outputs: dict[str, str] = {}
    ran = []
    for step in job["steps"]:
        if step.get("uses", "").startswith("OWNER/tokengap@"):
            assert step.get("with", {}).keys() <= ACTION["inputs"].keys()
            done = act(checkout, step.get("with"))
            assert done.exit_code == 0, done.log
            outputs = {f"steps.{step['id']}.outputs.{key}": value for key, value in done.outputs.items()}
        elif "run" in step and not step["run"].startswith("pip install"):
            env = {key: _filled(value, outputs) for key, value in step.get("env", {}).items()}
            env |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "GITHUB_BASE_REF": "main"}
            shell = ["bash", "-e", "-c", step["run"]]
            ran.append(subprocess.run(shell, cwd=checkout, env=env, capture_output=True, check=True).stdout.decode())
    if name == "budgets.yml":
        assert ran == ["48 tokens, 0.00012 USD\n"]
    else:
        assert "1 budget kept, compared with origin/main" in ran[0]
        assert json.loads((checkout / "budgets.sarif").read_bytes())["version"] == "2.1.0"
