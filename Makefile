# Every target sets itself up in .venv: Python 3.11 or newer and make are all that is needed.
PYTHON ?= python3
BIN := .venv/bin
LOWEST := .venv-lowest

.PHONY: demo test test-lowest check bench docs clean

demo: .venv/plot
	$(BIN)/kernop demo

# As many processes as cores, so one thread of BLAS for each: otherwise they wait for each other.
test: .venv/test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest

# The same with the lowest versions that pyproject.toml allows.
test-lowest: $(LOWEST)/test
	OPENBLAS_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: .venv/test
	for b in benchmarks/[a-z]*.py; do echo "== $$b" && $(BIN)/python $$b || exit 1; done

# The site, in docs/_build/html; the gallery runs all examples. A warning is an error.
docs: .venv/docs
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -n -q docs docs/_build/html
	! grep -rlE '<(script|link|img|iframe)[^>]*(src|href)="https?://' docs/_build/html --include='*.html' # works offline
	@echo "docs/_build/html/index.html"

# A mark for each set of extras; made anew when the dependencies change.
.venv/%: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kernop needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv

$(LOWEST)/test: pyproject.toml tools/lowest.py
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python tools/lowest.py test > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint $(LOWEST)/constraints.txt --editable '.[test]'
	touch $@

clean:
	rm -rf .venv $(LOWEST) build dist docs/_build docs/gallery .pytest_cache .ruff_cache .hypothesis
