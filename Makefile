# Everything sets itself up: `make demo` and `make test` need python3 and nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .lowest
BOTH_WAYS := tests/engine/test_differential.py tests/engine/test_lists.py tests/engine/test_protocol.py tests/io tests/data \
	tests/native tests/compat/test_golden.py tests/evaluation tests/fusion
STYLES_AND_SCRIPTS := $(wildcard src/goldrank/*/assets/*.css src/goldrank/*/assets/*.js)
SLOW_TO_IMPORT := tests/engine/spark tests/benchmarks tests/evaluation/test_peers.py tests/measures/test_second_opinions.py

# Tests start Python hundreds of times: without compiled files each start would compile goldrank anew.
test check lowest: export PYTHONDONTWRITEBYTECODE :=
# One process of tests for each core: more threads would wait for each other, and take CPU while they do.
test check lowest: export OPENBLAS_NUM_THREADS := 1

.PHONY: help demo test check lint lowest fuzz bench peers docs names site clean

help:  ## Show what can be made.
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.demo  ## Compare three small retrievers and say what the numbers mean.
	@$(BIN)/goldrank demo

test: $(VENV)/.test  ## Run all tests.
	$(BIN)/python -m pytest -n auto
	GOLDRANK_PURE=1 GOLDRANK_QUICK=1 $(BIN)/python -m pytest -n auto -m "not slow" $(BOTH_WAYS)  # without the core

check: lint  ## The fast lane while you work: style, types, tests that are not slow, a tenth of the random cases.
	GOLDRANK_QUICK=1 $(BIN)/python -m pytest -n auto -m "not slow" $(foreach path,$(SLOW_TO_IMPORT),--ignore $(path))

lint: $(VENV)/.lint  ## Check style and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python benchmarks/style_counts.py --check
	$(BIN)/djlint --check src/goldrank
	$(BIN)/djlint --lint src/goldrank
	$(BIN)/oxfmt --check $(STYLES_AND_SCRIPTS)
	$(BIN)/oxlint --deny-warnings $(STYLES_AND_SCRIPTS)

lowest: $(LOWEST)/.made  ## Run the fast tests with the lowest versions that pyproject.toml allows.
	GOLDRANK_QUICK=1 PYTHONPATH=$(CURDIR)/src $(LOWEST)/bin/python -m pytest -n auto -m "not slow" -p no:cacheprovider \
		$(foreach path,$(SLOW_TO_IMPORT) tests/docs,--ignore $(path))

N ?= 20000

fuzz: $(VENV)/.test  ## Try N=1000000 changed inputs on all routes, or one finding again: REPLAY=.fuzz/readers-7.json.
ifdef REPLAY
	$(BIN)/python -m tests.fuzz --replay $(REPLAY)
else
	@if command -v gcc >/dev/null; then GOLDRANK_QUICK=1 GOLDRANK_FUZZ=$(N) $(BIN)/python tests/native/sanitized.py; \
		else echo "no gcc: the compiled core is not tried with sanitizers"; fi
	$(BIN)/python -m tests.fuzz -n $(N)
endif

bench: $(VENV)/.demo  ## Compare speed and memory with other tools; writes benchmarks/RESULTS.md.
	$(BIN)/python benchmarks/run.py

peers: $(VENV)/.test  ## Run other tools' own tests through goldrank.compat; PEERS=folder with their checkouts.
	$(BIN)/python tests/peers/run_suites.py $(PEERS)

docs: $(VENV)/.test  ## Rewrite docs/measures.md from the declarations.
	$(BIN)/python docs/generate.py

names: $(VENV)/.test  ## Rewrite the lists of public names (docs/public_names.txt, src/goldrank/__init__.pyi).
	$(BIN)/python docs/public_names.py

site: $(VENV)/.site  ## Build the site into .site/; open .site/index.html.
	$(BIN)/python docs/site.py .site

clean:  ## Remove what the other targets made.
	rm -rf $(VENV) $(LOWEST) .fuzz .site dist .mypy_cache .ruff_cache .pytest_cache benchmarks/data benchmarks/.peers benchmarks/floor
	rm -f src/goldrank/_native.*.so

$(VENV)/.demo: pyproject.toml build_native.py src/goldrank/_native.c
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(LOWEST)/.made: pyproject.toml
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(PYTHON) .ci/lowest.py > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m pip install --quiet -r $(LOWEST)/lowest.txt pytest pytest-randomly pytest-xdist hypothesis \
		pandas pyarrow duckdb statsmodels scikit-learn rouge rouge-score ir_measures cwl-eval
	@touch $@

$(VENV)/.test: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --group test
	@touch $@

$(VENV)/.site: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --group site
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --group lint
	@touch $@
