"""Several workers count as one service, also when one of them dies."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

COUNTED = re.compile(r'^tokengap_requests_total\{route="/v1/count",status="200"\} (\S+)', re.MULTILINE)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="workers are found in /proc")
def test_metrics_are_those_of_all_workers_whichever_answers(
    serve: Callable[..., Any], eventually: Callable[..., None]
) -> None:
    with serve("--workers", "2") as server:
        process = server.process.pid

        def workers() -> set[int]:
            children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
            return {int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()}

        def shown() -> set[float]:
            texts = [server.get("/metrics").text for _ in range(8)]
            return {float(found[1]) for text in texts if (found := COUNTED.search(text))}

        def count(times: int) -> None:
            for _ in range(times):
                assert server.post("/v1/count", {"input": "a"}).status_code == 200

        count(10)
        assert shown() == {10}
        before = workers()
        assert len(before) == 2
        os.kill(min(before), signal.SIGKILL)
        eventually(lambda: len(workers() - before) == 1 and len(workers()) == 2, "another worker takes its place")
        count(5)
        assert shown() == {15}
