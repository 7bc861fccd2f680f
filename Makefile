# Every target sets itself up: Python 3.11 or newer and make are all a machine needs.
#
#   make serve         build, serve, rebuild and reload on every change
#   make site          the site into dist/
#   make test          everything: lint, types, site, experiments (quick), tests
#   make check         what is quick of that: lint, types, the site's checks; writes nothing
#   make experiments   run what has no fresh record, then run everything again and compare
#   make clean         remove what was built

SHELL := /bin/sh
.SUFFIXES:
.PHONY: serve site test check experiments clean lint types browser tests help

PORT ?= 8000
ENV := .venv
PY := $(ENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check -qq install --require-hashes
export PATH := $(CURDIR)/$(ENV)/bin:$(PATH)

SITE := $(ENV)/.site
EXPERIMENTS := $(ENV)/.experiments
SCRIPTS := node_modules/.installed

help:
	@sed -n '3,8s/^#   //p' Makefile

serve: $(SITE) $(SCRIPTS)
	@$(PY) build.py --serve --port $(PORT)

site: $(SITE) $(SCRIPTS)
	@$(PY) build.py

check: lint types
	@echo "==> the site's checks"
	@$(PY) build.py --check

experiments: $(SITE) $(EXPERIMENTS)
	@echo "==> experiments without a fresh record"
	@$(PY) -m experiments run --stale
	@echo "==> every experiment again, against its record"
	@$(PY) -m experiments verify --all

# The tests come last, so that their numbers are the last lines.
test: lint types browser $(EXPERIMENTS)
	@echo "==> the site, with its checks"
	@$(PY) build.py
	@echo "==> experiments, quick, against their records"
	@$(PY) -m experiments verify --quick
	@WIKI_SITE=$(CURDIR)/dist $(MAKE) --no-print-directory tests

# Files side by side, each in one process: some tests build on those before. A browser uses all
# cores by itself, and what it does is timed, so its tests come after, one by one.
tests: $(SITE) $(EXPERIMENTS) $(SCRIPTS) browser
	@echo "==> tests, side by side"
	@$(PY) -m pytest -q -n auto --maxprocesses 8 --dist loadfile --ignore tests/browser; \
	status=$$?; \
	echo "==> tests in a browser"; \
	$(PY) -m pytest -q tests/browser && exit $$status

lint: $(SITE)
	@echo "==> lint"
	@$(PY) -m ruff check --quiet .
	@$(PY) -m ruff format --check --quiet . || { echo "format: run '$(PY) -m ruff format .'" >&2; exit 1; }

# Tests and experiments are typed against torch.
types: $(SITE) $(EXPERIMENTS) $(SCRIPTS)
	@echo "==> types"
	@$(PY) -m mypy --strict
	@for project in site/tsconfig*.json; do node_modules/.bin/tsc --project $$project || exit 1; done

browser: $(SITE)
	@.ci/browser $(PY)

$(ENV)/pyvenv.cfg:
	@echo "==> Python environment"
	@for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	  if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$name; break; fi; \
	done; \
	if [ -z "$$found" ]; then echo "make: Python 3.11 or newer is needed; $$(python3 -V 2>&1 || true) found" >&2; exit 1; fi; \
	$$found -m venv $(ENV) || { rm -rf $(ENV); echo "make: '$$found -m venv' failed; install Python's venv package" >&2; exit 1; }

$(SITE): requirements/site.txt $(ENV)/pyvenv.cfg
	@echo "==> Python packages of the site"
	@$(PIP) -r $<
	@touch $@

$(EXPERIMENTS): requirements/experiments.txt requirements/torch-cpu.txt requirements/cuda.txt $(SITE)
	@echo "==> Python packages of the experiments"
	@$(PIP) --no-deps -r requirements/torch-cpu.txt 2>/dev/null || echo "    no CPU build of torch here: taking the public one"
	@$(PIP) --no-deps -r $<
	@$(PY) requirements/needs_cuda.py && $(PIP) --no-deps -r requirements/cuda.txt || [ $$? -eq 3 ]
	@touch $@

$(SCRIPTS): package-lock.json package.json $(SITE)
	@echo "==> browser packages"
	@npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

# The fetched numpy wheel stays: it is checked against its hash and spares a download.
clean:
	rm -rf dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@if [ -d .cache ]; then find .cache -mindepth 1 -maxdepth 1 ! -name vendor -exec rm -rf {} +; fi
	@find build.py calculators experiments site tests -name __pycache__ -prune -exec rm -rf {} +
