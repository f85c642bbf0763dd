# Each target does its own set-up: a machine with Python 3.11+ and make is enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
PEERS  := $(VENV)/.peers

.PHONY: demo test check format lint types layers pytest coverage pytest-bounds pytest-nojit peers judges goldens bench docs clean

demo: $(STAMP)
	@$(BIN)/drystone demo --output demo

test: check pytest pytest-bounds pytest-nojit

check: lint types layers

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports

# Kernels compile in the first pass; the two workers then share the cache on disk.
pytest: $(STAMP)
	$(BIN)/pytest -n 2

# A quarter slower than the tests alone.
coverage: $(STAMP)
	$(BIN)/pytest -n 2 --cov --cov-report=term:skip-covered

pytest-bounds: $(STAMP)
	DRYSTONE_JIT=bounds $(BIN)/pytest -q -m kernels -n 2

pytest-nojit: $(STAMP)
	DRYSTONE_JIT=off $(BIN)/pytest -q -m kernels -n 2

# Beside other engines (half a gigabyte from PyPI), and Siconos where Debian's package is installed.
peers: $(PEERS)
	$(BIN)/pytest -q -m peers -n 2

# A million poses of polyhedra and polygons, and heaps: half an hour.
judges: $(STAMP)
	$(BIN)/pytest -q -m judges -n 2

# Every scene by every method, and every option in small worlds, against the numbers of
# tests/golden/data: minutes. `pytest -m goldens --bits` compares bits.
goldens: $(STAMP)
	$(BIN)/pytest -q -m goldens -n 2

# make bench BENCH="growth --sizes 100,1000"; what there is: make bench BENCH=--help
BENCH ?= scenes
bench: $(STAMP)
	$(BIN)/python -m benchmarks $(BENCH)

# The site in site/, with a replay of every scene (minutes the first time); needs no network.
docs: $(STAMP)
	$(BIN)/python docs/make_gallery.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html; with search: python -m http.server -d site"

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(PEERS): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,peers]'
	@touch $@

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis demo site docs/gallery/replays
