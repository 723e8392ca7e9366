"""The frame: HuggingFace's package stays visible, imports point left, nothing is left out of the wheel."""

from __future__ import annotations

import ast
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ORDER = ("tokenizers", "estimators", "service")
SOURCES = sorted(path for folder in ORDER for path in (ROOT / folder).glob("**/*.py"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_tokenizers_has_no_init() -> None:
    """A regular package here would shadow HuggingFace's whenever Python starts in this folder."""
    assert not (ROOT / "tokenizers" / "__init__.py").exists()


def test_huggingface_tokenizers_still_works() -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="HuggingFace's tokenizers is not installed")
    spec = find_spec("tokenizers")
    assert spec is not None
    assert spec.origin is not None
    assert ROOT / "tokenizers" not in Path(spec.origin).parents
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}))
    assert model.encode("a").ids == [0]


def test_one_registry_only() -> None:
    from tokengap.tokenizers import registry

    loaded = {name for name in sys.modules if name.endswith("tokenizers.registry")}
    assert loaded == {"tokengap.tokenizers.registry"}
    assert registry.get_counter("words:1").name == "words:1"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_left_and_are_relative(path: Path) -> None:
    here = ORDER.index(path.relative_to(ROOT).parts[0])
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("tokengap") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.level == 2:
                there = ORDER.index(node.module.split(".")[0])
                assert there < here, f"{path.name}:{node.lineno} imports {node.module}, which is to its right"
            assert node.level or not node.module.startswith("tokengap"), f"{path.name}:{node.lineno}: import relatively"


def test_every_folder_is_packaged() -> None:
    """A folder that setuptools is not told of works in an editable install and is missing from the wheel."""
    folders = {path.parent.relative_to(ROOT) for path in SOURCES} | {Path("tokenizers/data")}
    named = {Path(*name.split(".")[1:]) for name in PYPROJECT["tool"]["setuptools"]["packages"]}
    assert folders == named


def test_product_code_reads_no_test_data() -> None:
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        assert "/shared" not in text
        assert "TOKENGAP_SHARED" not in text
