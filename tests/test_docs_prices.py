"""The price file shown in docs/prices.md is one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tokengap.estimators.price_config import read_prices

DOCUMENT = Path(__file__).parents[1] / "docs" / "prices.md"
BLOCKS = re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_toml(block: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(block)
    assert len(read_prices(file).entries) == 4
