# The habits of this project. Nothing but Python 3.10+ and Node 20.19+ is needed beforehand.
#
#   make demo    set up, build, generate a sample job of 8 ranks, serve it with TensorBoard
#   make test    set up everything and run all checks and tests
#   make lint    the static checks alone        make bench   the figures of the README
#   make wheel   both wheels and the sdist      make fuzz    a long run of the reader fuzzer

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.10 python3; do \
	if command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	2>/dev/null; then echo $$p; break; fi; done)
VENV := .venv
OLDEST := .venv-oldest
BIN := $(VENV)/bin
FRONTEND := tb_npu_plugin/frontend
SOURCES := tb_npu_plugin handler/tb_npu_handler tests benchmarks examples scripts setup.py
export DEMO_SECONDS
# A proxy or an index without a certificate must not be asked for a newer pip.
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet

.PHONY: demo test lint types bench fuzz wheel browser test-python test-oldest test-frontend clean

demo: $(VENV)/.installed static
	$(BIN)/tb-npu demo

test: lint test-frontend test-python test-oldest

$(VENV)/.installed: pyproject.toml setup.py
	@test -n "$(PYTHON)" || { echo "Python 3.10 or newer is needed" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	$(PIP) --editable .
	touch $@

$(VENV)/.test: $(VENV)/.installed
	$(PIP) --editable '.[test]'
	touch $@

# The frontend, rebuilt when the hash of its sources differs from the stamp beside it.
.PHONY: static
static:
	python3 scripts/build_frontend.py

# What the tab is tested in: Debian's Chromium and a Chinese font, where they can be installed.
browser:
	@scripts/install_browser.sh

lint: $(VENV)/.test static
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	cd handler && ../$(BIN)/mypy --config-file pyproject.toml -p tb_npu_handler
	$(BIN)/python -m tb_npu_plugin.backend.api_schema > .venv/api_schema.json
	cd $(FRONTEND) && npm run --silent types -- --check ../../.venv/api_schema.json
	cd $(FRONTEND) && npm run --silent check

# TypeScript types of the API, from the structs of the backend.
types: $(VENV)/.installed
	$(BIN)/python -m tb_npu_plugin.backend.api_schema > .venv/api_schema.json
	cd $(FRONTEND) && npm run --silent types -- ../../.venv/api_schema.json

test-frontend: static
	cd $(FRONTEND) && npm test --silent

test-python: $(VENV)/.test static browser
	$(BIN)/python -m pytest -n 2 --ignore tests/handler --ignore tests/browser
	$(BIN)/python -m pytest tests/browser
	$(BIN)/python tests/handler/npu_venv.py --extras
	$(BIN)/python -m pytest -n 2 tests/handler

# The floors of the dependencies: the backend's tests on the oldest that are supported.
$(OLDEST)/.installed: pyproject.toml setup.py
	@command -v python3.11 >/dev/null || { echo "no python3.11: skipped" >&2; exit 0; }
	python3.11 -m venv $(OLDEST)
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(OLDEST)/bin/python -m pip install --quiet \
		'setuptools<82' wheel tensorboard==2.16.2 'protobuf<5' pandas==2.3.3 'numpy<2' duckdb==1.4.5 \
		msgspec==0.21.1 typer rich platformdirs filelock pytest pytest-xdist hypothesis psutil \
		distributed==2024.8.0 fsspec==2024.2.0
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(OLDEST)/bin/python -m pip install --quiet --no-deps \
		--editable .
	touch $@

test-oldest: $(OLDEST)/.installed static
	$(OLDEST)/bin/python -m pytest -n 2 -m 'not slow' tests/readers/test_csv_file.py \
		tests/readers/test_kernel_details.py tests/readers/test_step_trace_time.py \
		tests/readers/test_operator_details.py tests/views tests/test_store.py tests/test_tables.py \
		tests/test_frames.py tests/test_plugin.py tests/test_ingest_many.py

bench: $(VENV)/.test static
	$(BIN)/python benchmarks/first_paint.py
	$(BIN)/python benchmarks/first_paint.py --all-files
	$(BIN)/python benchmarks/many_ranks.py
	$(BIN)/python benchmarks/trace_ingest.py

# About an hour; more or less with FUZZ=2000 damaged copies of each file.
fuzz: $(VENV)/.test static
	TB_NPU_FUZZ=$(or $(FUZZ),2000) $(BIN)/python -m pytest -n 2 tests/readers/test_fuzz.py

wheel: $(VENV)/.test static
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --outdir dist --wheel handler

clean:
	rm -rf $(VENV) $(OLDEST) build dist tb_npu_plugin/static *.egg-info
