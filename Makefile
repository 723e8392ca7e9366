# Everything runs in .venv, made on first use from hashed requirements; a second run is quick.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input
INSTALL_SELF := $(PIP) --no-deps --no-build-isolation --editable .

.DEFAULT_GOAL := help
.PHONY: help demo test lint format typecheck budgets smoke schemas docs bench lock clean

help: ## List these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | while IFS="$$(printf '\t')" read -r name what; do printf 'make %-10s %s\n' "$$name" "$$what"; done

demo: .venv/runtime ## Install, then show what counting words costs on real messages
	@$(BIN)/tokengap compare --model gpt-4o --calls 200000 --per month examples/messages

test: .venv/dev ## Install and run the tests
	$(BIN)/python -m pytest -n auto $(PYTEST)

lint: .venv/dev ## Check style, and the files that other programs read
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.gitlab-ci ci/*.gitlab-ci.yml
	$(BIN)/pre-commit validate-manifest .pre-commit-hooks.yaml
	$(BIN)/hadolint Dockerfile

format: .venv/dev ## Rewrite the sources in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

typecheck: .venv/dev ## Check the types, strictly
	$(BIN)/mypy
	$(BIN)/mypy tests benchmarks

budgets: .venv/runtime ## Hold this repository's own documents and prompts to their budgets
	@$(BIN)/tokengap check

smoke: .venv/dev ## Build the wheel and try it in a new environment, away from the sources
	$(BIN)/python tests/smoke.py

schemas: .venv/schemas ## Fetch the schemas that reports are validated against (node's npm is needed)

docs: .venv/dev ## Write the outputs shown in the documents anew
	$(BIN)/python tests/test_docs.py
	$(BIN)/python tests/test_docs_deploy.py

bench: .venv/bench ## Run the quick benchmarks beside other tools (they print; train.py takes minutes)
	$(BIN)/python benchmarks/cold_start.py
	$(BIN)/python benchmarks/hostile.py
	$(BIN)/python benchmarks/price.py
	$(BIN)/python benchmarks/check.py
	$(BIN)/python benchmarks/count.py --quick --fetch

lock: .venv/dev ## Resolve the requirements anew
	$(PIP) uv
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  pyproject.toml --group build -o requirements/runtime.txt
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --group build -c requirements/runtime.txt -o requirements/build.txt
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  pyproject.toml --extra serve -c requirements/runtime.txt -o requirements/serve.txt
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  pyproject.toml --extra serve --group dev -c requirements/serve.txt -o requirements/dev.txt
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  pyproject.toml --extra fast -c requirements/dev.txt -o requirements/fast.txt
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  pyproject.toml --extra serve --group dev --group bench -c requirements/dev.txt -o requirements/bench.txt

clean: ## Remove what these commands made
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/python:
	@echo "Making .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/runtime: .venv/python requirements/runtime.txt pyproject.toml
	@echo "Installing tokengap and what it needs (a minute, the first time)"
	@$(PIP) --require-hashes -r requirements/runtime.txt
	@$(INSTALL_SELF)
	@touch $@

.venv/dev: .venv/python requirements/dev.txt pyproject.toml
	@echo "Installing tokengap, its tests and its checks (a minute, the first time)"
	@$(PIP) --require-hashes -r requirements/dev.txt
	@$(INSTALL_SELF)
	@touch $@ .venv/runtime

.venv/schemas: .venv/dev tests/schemas.py
	@echo "Fetching schemas"
	@$(BIN)/python tests/schemas.py $@

.venv/bench: .venv/dev requirements/bench.txt
	@echo "Installing the tools to compare with"
	@$(PIP) --require-hashes -r requirements/bench.txt
	@touch $@
