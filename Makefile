# Everything runs in .venv, which make builds itself: Python 3.11+, a C compiler and make are enough.
# Another Python has an environment of its own: make test PYTHON=python3.13 runs in .venv-3.13.
PYTHON ?= python3
ifneq ($(PYTHON),python3)
# pyenv's stand-in for a version that is not the chosen one does not run: pyenv's folder then has the program itself.
PYENV  := $(lastword $(sort $(wildcard $(shell pyenv root 2>/dev/null)/versions/$(subst python,,$(PYTHON)).*/bin/python)))
ASK    := -c 'import sys; print(sys.executable, "%d.%d" % sys.version_info[:2])' 2>/dev/null
ANSWER := $(or $(shell $(PYTHON) $(ASK)),$(if $(PYENV),$(shell $(PYENV) $(ASK))))
$(if $(ANSWER),,$(error lastbit needs Python 3.11 or newer: $(PYTHON) does not run))
override PYTHON := $(firstword $(ANSWER))
endif
VENV   := .venv$(addprefix -,$(word 2,$(ANSWER)))
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
DIST      := $(VENV)/.dist-$(HERE)
SITE      := $(VENV)/.docs-$(HERE)

.DEFAULT_GOAL := help
.PHONY: help demo test quick fuzz lint format mutants busy sanitize bench experiments docs dist clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

demo: $(BUILT) ## run examples/demo.py: needs the command only, and no Spark
	@$(RUN) examples/demo.py

test: lint ## lint, then the tests and every example in the docstrings, README and docs
	@echo "== tests"
	@$(RUN) -m pytest -q -n 3 --dist loadgroup

quick: lint ## lint, and the tests that take least: a minute, before each commit
	@echo "== the fast tests"
	@$(RUN) -m pytest -q -n 2 --dist loadgroup tests/questions tests/twins tests/exact tests/privacy tests/audit/test_verdict.py \
		tests/output/test_words.py tests/values/test_grid.py tests/laws/test_laplace.py tests/laws/test_top_k.py \
		tests/tools/test_mutants.py tests/docs/test_architecture.py tests/docs/test_names.py tests/docs/test_layout.py \
		$(addprefix --ignore=tests/questions/test_,in_each.py unit_combinations.py several_numbers.py top_sets.py ten_tasks.py group_numbers.py wrong_values.py)

fuzz: $(INSTALLED) ## much longer: hostile rows one by one, larger tables of items nobody listed, larger small models, extreme parameters
	@LASTBIT_FUZZ=1 $(RUN) -m pytest -q -n 2 --dist loadgroup tests/stability tests/truth tests/data/spark/test_retries.py \
		tests/publication \
		tests/laws/test_discover.py tests/laws/test_corners.py \
		tests/chance/test_small_models.py tests/mechanisms/test_extreme_parameters.py

lint: $(INSTALLED) ## ruff, mypy, import-linter
	@echo "== lint"
	@$(RUN) -m ruff check --quiet .
	@$(RUN) -m ruff format --quiet --check .
	@$(RUN) -m mypy --no-error-summary
	@report=$$($(VENV)/bin/lint-imports --no-logo) || { echo "$$report"; exit 1; }

format: $(INSTALLED) ## sort imports and format all code
	@$(RUN) -m ruff check --quiet --fix --select I .
	@$(RUN) -m ruff format --quiet .

mutants: $(INSTALLED) ## put faults into a copy of the code, and see that tests notice: those of changed files, ONLY=room, ALL=1
	@$(RUN) -m tools.mutants $(if $(ALL),--all) $(if $(ONLY),--only $(ONLY)) $(if $(NAMED),--named "$(NAMED)")

busy: $(INSTALLED) ## the tests that wait for something, ten times beside three loops that take their core: an hour
	@$(RUN) -m tools.busy

sanitize: $(INSTALLED) ## the compiled modules with address and undefined-behaviour sanitizers: ALL=1 for all tests of the core
	@echo "== a static look at shifts and casts"
	@$(RUN) -m tools.conversions
	@ALL="$(ALL)" $(RUN) tools/sanitize.py

bench: $(BENCH) ## measure against NumPy and OpenDP
	@$(RUN) -m benchmarks

experiments: $(PAPERS) ## the papers' experiments again: DATA=folder of item,count files, ONLY="names"
	@$(RUN) -m experiments $(if $(DATA),--data "$(DATA)") $(ONLY)

docs: $(SITE) ## build the site into build/site/html: pages are executed, warnings are errors
	@$(RUN) -m tools.site

dist: $(DIST) ## build the sdist and the wheel, check them, and try each in an empty environment
	@$(RUN) -m tools.dist

clean: ## remove the environments and everything built
	rm -rf .venv .venv-* build dist src/*.egg-info $(wildcard $(PYX:.pyx=.c) $(PYX:.pyx=.*.so))
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

$(DIST): $(BUILT)
	@echo "== installing what builds and checks distributions"
	@$(SHOWN) $$($(RUN) tools/requirements.py dist)
	@touch $@

$(SITE): $(INSTALLED)
	@echo "== installing what builds the site"
	@$(SHOWN) $$($(RUN) tools/requirements.py docs)
	@touch $@
