# Everything a developer does with this checkout. Every target sets up what it needs first.

.DEFAULT_GOAL := help
.PHONY: help setup demo test smoke deep lint fmt bench lock clean

BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest --numprocesses=auto --dist=worksteal
SCRIPTS := .ci/run .ci/on-debian .ci/move-database .ci/setup .ci/lock/update docker/install-kanon.sh

help: ## list the targets
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{ printf "%-9s %s\n", $$1, $$2 }'

setup: ## install what is missing (PostgreSQL with PL/Python, .venv with all packages)
	@bash .ci/setup

demo: setup ## show the whole story on a generated table, in a private server
	$(BIN)/kanon demo

test: lint ## check the code, then run every test (about 12 minutes on 2 processors)
	$(PYTEST)

smoke: setup ## run two cases of every test but the slow ones, with few examples (about 3 minutes)
	$(PYTEST) -m "not slow" --smoke --hypothesis-profile=smoke

deep: setup ## search for an hour: slow tests, and properties with many examples, others each time
	$(PYTEST) -m "slow or hypothesis" --hypothesis-profile=deep --timeout=0

lint: setup ## check style, formatting, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/shellcheck $(SCRIPTS)

fmt: setup ## format the code and repair what can be repaired
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup ## measure, as described in tests/benchmarks
	$(BIN)/python -m tests.benchmarks

lock: setup ## write the lock files anew from pyproject.toml
	bash .ci/lock/update

clean: ## remove .venv and caches (not the private servers: see kanon down --delete)
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
