# Everything a developer does with this checkout. Every target sets up what it needs first.

.DEFAULT_GOAL := help
.PHONY: help setup development demo test full citus dbt integration smoke deep lint fmt bench docs deb release lock clean

BIN := .venv/bin
# one more than there are processors: many tests wait for what the server or a clock does
PROCESSES := $(shell expr $$(nproc) + 1)
# whatever the environment says, pytest keeps what it made of the tests: that takes as long as reading them
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses=$(PROCESSES) --dist=worksteal
SMOKE := tests/unit tests/query tests/property tests/instances tests/integration tests/security
SCRIPTS := .ci/run .ci/on-debian .ci/on-image .ci/on-packages .ci/packages-here .ci/postgres-image/docker-entrypoint.sh .ci/move-database \
	.ci/setup .ci/lock/update docker/install-kanon.sh docker/with-certificate.sh packaging/deb

help: ## list the targets
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{ printf "%-12s %s\n", $$1, $$2 }'

setup: ## install what kanon needs (PostgreSQL with PL/Python, .venv), and compile the solvers
	@bash .ci/setup

development: ## install what tests and checks need, too
	@bash .ci/setup tests

demo: ## show what kanon_pg does to a generated table, in a private server
	@bash .ci/setup demo
	$(BIN)/kanon demo

test: lint ## check the code, then run one of the tests that are alike, properties with half their examples, as continuous integration does
	$(PYTEST) -m "not thorough and not citus and not deep" --hypothesis-profile=daily

full: lint ## check the code, then run every test but the deep ones: more than an hour on two processors
	$(PYTEST) -m "not deep"

citus: development ## run the tests of distributed tables, where there is Citus
	$(PYTEST) -m citus

dbt: development ## run the tests of the dbt package, with dbt in an environment of its own
	$(BIN)/python -m venv build/dbt
	build/dbt/bin/pip install --quiet --requirement integrations/dbt/requirements.txt
	$(BIN)/python -m pytest tests/integration/test_dbt.py

integration: development ## run the tests that need a server: integration and security
	$(PYTEST) -m "not thorough and not citus and not deep" tests/integration tests/security

smoke: development ## run one case of most tests but the slow ones, with few examples
	$(PYTEST) -m "not slow and not thorough and not citus and not deep" --smoke --hypothesis-profile=smoke $(SMOKE)

deep: development ## search long: proofs that take minutes, and properties with many examples, others each time
	$(PYTEST) -m "deep or hypothesis" --hypothesis-profile=deep --timeout=0

lint: development ## check style, formatting, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.sizes
	$(BIN)/shellcheck $(SCRIPTS)

fmt: development ## format the code and repair what can be repaired
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: development ## measure, as described in tests/benchmarks
	$(BIN)/python -m tests.benchmarks

docs: development ## build the documentation as a site, in build/docs/site, and check it
	$(BIN)/python -m tests.docs.site

release: setup ## build what is published: wheel and source for Python, archive for packagers, in dist
	rm -rf dist
	$(BIN)/hatchling build -d dist
	git archive --format=zip --prefix=kanon_pg-$$($(BIN)/kanon --version)/ --output=dist/kanon_pg-$$($(BIN)/kanon --version).zip HEAD
	ls -l dist

deb: setup ## build the Debian packages, in build/deb
	bash packaging/deb

lock: development ## write the lock files anew from pyproject.toml
	bash .ci/lock/update

clean: ## remove .venv and caches (not the private servers: see kanon down --delete)
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
