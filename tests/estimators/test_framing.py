"""The table of rules: readable, dated, and with a rule for every model."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tokengap.estimators import framing
from tokengap.estimators.framing import Rule, find_rule, rules
from tokengap.tokenizers.counter import KINDS
from tokengap.tokenizers.models import models

ALL: list[Rule] = [*rules().messages, *rules().tools, *rules().structured_output, *rules().images]


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)
def test_a_rule_says_where_it_comes_from(rule: Rule) -> None:
    assert rule.source
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", rule.date)
    assert rule.kind in KINDS[1:]  # what a provider adds is never exact
    assert rule.models or rule.families


def test_names_are_unique() -> None:
    assert len({rule.name for rule in ALL}) == len(ALL)


def test_every_rule_is_of_use() -> None:
    for group in (rules().messages, rules().tools, rules().images):
        used = {found.name for model in models().values() if (found := find_rule(group, model))}
        assert used == {rule.name for rule in group}


def test_every_model_has_a_rule_for_messages_and_tools() -> None:
    for model in models().values():
        for group in (rules().messages, rules().tools, rules().structured_output):
            assert find_rule(group, model) is not None, model


def test_no_heuristic_rule_pretends_an_interval() -> None:
    for rule in rules().messages:
        if rule.kind == "heuristic":
            assert rule.below == rule.calls_below == rule.calls_above == 0


def test_the_table_is_where_the_docs_say() -> None:
    table = json.loads(Path(framing.__file__).with_name("framing.json").read_text(encoding="utf-8"))
    assert set(table) == {"about", "checked", "messages", "tools", "structured_output", "images"}
