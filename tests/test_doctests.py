"""The examples in docstrings. pytest cannot collect them from the folders, whose imports are relative."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import tokengap.estimators
import tokengap.service
import tokengap.tokenizers

PACKAGES = (tokengap.tokenizers, tokengap.estimators, tokengap.service)
MODULES = [
    module.name for package in PACKAGES for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0
