"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile("tokengap", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tokengap")


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of expected values beside the project; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("TOKENGAP_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        if os.environ.get("TOKENGAP_CASES") == "required":
            pytest.fail(f"TOKENGAP_CASES=required, but {folder} is absent")
        pytest.skip(f"{folder} is absent")
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not os.environ.get("TOKENGAP_SLOW"):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow: set TOKENGAP_SLOW to run it"))
