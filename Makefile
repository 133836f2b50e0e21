# Everything runs in .venv, which make builds itself: Python 3.11+, a C compiler and make are enough.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/python
PIP    := $(RUN) -m pip --disable-pip-version-check
SHOWN  := $(RUN) tools/install.py

# A virtual environment remembers where it was made: a copied or moved tree gets its own.
HERE      := $(firstword $(shell pwd | cksum))
CREATED   := $(VENV)/.created-$(HERE)
BUILT     := $(VENV)/.built-$(HERE)
INSTALLED := $(VENV)/.installed-$(HERE)
BENCH     := $(VENV)/.bench-$(HERE)
PYX       := $(shell find src -name '*.pyx')
PAPERS    := $(VENV)/.experiments-$(HERE)

.DEFAULT_GOAL := help
.PHONY: help demo test fuzz lint mutants bench experiments clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

demo: $(BUILT) ## run examples/demo.py: needs the command only, and no Spark
	@$(RUN) examples/demo.py

test: lint ## lint, then the tests and every example in the docstrings, README and docs
	@echo "== tests"
	@$(RUN) -m pytest -q -n 2 --dist loadgroup

fuzz: $(INSTALLED) ## much longer: hostile rows one by one and many more, and larger tables of items nobody listed
	@LASTBIT_FUZZ=1 $(RUN) -m pytest -q -n 2 --dist loadgroup tests/stability tests/laws/test_discover.py

lint: $(INSTALLED) ## ruff, mypy, import-linter
	@echo "== lint"
	@$(RUN) -m ruff check --quiet .
	@$(RUN) -m ruff format --quiet --check .
	@$(RUN) -m mypy --no-error-summary
	@report=$$($(VENV)/bin/lint-imports --no-logo) || { echo "$$report"; exit 1; }

mutants: $(INSTALLED) ## put each declared fault into a copy of the code, and see that the tests notice: ONLY=room
	@$(RUN) -m tools.mutants $(if $(ONLY),--only $(ONLY)) $(if $(NAMED),--named "$(NAMED)")

bench: $(BENCH) ## measure against NumPy and OpenDP
	@$(RUN) -m benchmarks

experiments: $(PAPERS) ## the papers' experiments again: DATA=folder of item,count files, ONLY="names"
	@$(RUN) -m experiments $(if $(DATA),--data "$(DATA)") $(ONLY)

clean: ## remove .venv and everything built
	rm -rf $(VENV) build dist src/*.egg-info $(wildcard $(PYX:.pyx=.c) $(PYX:.pyx=.*.so))
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(CREATED):
	@command -v $(PYTHON) >/dev/null || { echo "lastbit needs Python 3.11 or newer: $(PYTHON) was not found." >&2; exit 1; }
	@$(PYTHON) tools/check_machine.py
	@echo "== making $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# The command alone, which is enough for the demo.
$(BUILT): $(CREATED) pyproject.toml setup.py $(PYX) $(shell find src -name "*.pxd")
	@echo "== installing what the command needs"
	@$(SHOWN) $$($(RUN) tools/requirements.py build core cli)
	@echo "== compiling $(words $(PYX)) modules (half a minute)"
	@$(PIP) install -qq --no-build-isolation --no-deps --editable .
	@touch $@

$(INSTALLED): $(BUILT)
	@echo "== installing what the tests need (Spark is large: a minute or two)"
	@$(SHOWN) $$($(RUN) tools/requirements.py dev)
	@touch $@

$(BENCH): $(INSTALLED)
	@echo "== installing what the benchmarks compare with"
	@$(SHOWN) $$($(RUN) tools/requirements.py bench)
	@touch $@

$(PAPERS): $(INSTALLED)
	@echo "== installing what the experiments compare with and draw with"
	@$(SHOWN) $$($(RUN) tools/requirements.py experiments)
	@touch $@
