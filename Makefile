# One command each on a machine with Python 3.11 and pip: `make demo`, `make test`, `make docs`, `make dist`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
KERNELS := ghr ghr-gine ghr-gcn ghr-gat ghr-adgn ghr-gated-gcn ghr-select min-plus gps

.PHONY: help demo browser test docs pictures dist format clean
help:            ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ -/'

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt "torch==$$(sed -n 's/^torch==//p' constraints.txt)"
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,chem,tables,docs]"
	@touch $@

demo: $(STAMP)   ## train GHR, a deep GINE and an extension on short distances, test them beyond, draw the figure
	$(BIN)/ghr demo

browser:         ## Debian's Chromium for the tests of pages, where it is missing and can be installed
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null \
		|| { apt-get update -qq && apt-get install -y -qq chromium chromium-driver; } >/dev/null 2>&1 \
		|| echo "There is no Chromium and it could not be installed: the tests of pages in a browser are skipped."

test: $(STAMP) browser ## ruff, mypy, doctests, the test suite and the site
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@# Kernels are compiled once, on both cores; the two processes of the suite would both compile all of them.
	$(BIN)/ghr warm-up $(KERNELS) --dtype float64 --quiet & \
		$(BIN)/mypy && $(BIN)/pytest --doctest-modules src && $(BIN)/ghr warm-up $(KERNELS) --quiet && wait $$!
	$(BIN)/pytest -n 2 --dist worksteal tests

docs: $(STAMP)   ## build the site into docs/_build/html; notebooks are executed, warnings are errors
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env docs docs/_build/html

pictures: $(STAMP) ## draw the pictures of the site again
	$(BIN)/python docs/pictures.py

dist: $(STAMP)   ## build sdist and wheel into dist, and install the wheel into an empty environment
	rm -rf dist
	$(BIN)/hatchling build
	$(BIN)/pytest tests/test_dist.py

format: $(STAMP) ## rewrite the code in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:           ## remove the environment and every cache
	rm -rf $(VENV) dist docs/_build docs/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis
