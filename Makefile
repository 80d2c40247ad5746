# `make demo` and `make test` need Python 3.11+, git and make, and do the rest themselves: a virtual environment in
# .venv with exactly what requirements.lock names. Nothing outside this folder is written.

PYTHONS = $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python
BIN = .venv/bin

.PHONY: help demo test check pictures keys bench soak lock clean

help:
	@echo 'make demo   set up, then watch one turn delegate to several children'
	@echo 'make test   set up, then check and test everything; PYTEST_ARGS="-k landing" narrows it'
	@echo 'make check  lint, formatting, import rules, types'
	@echo 'make pictures  draw the pictures in the README anew (needs tmux)'
	@echo 'make keys   write docs/keys.md anew from the table of keys'
	@echo 'make bench  what a delegation, a hundred children, snapshots and landings cost, beside git doing the same; what holding back costs'
	@echo 'make soak   the tests that take too long for every run'
	@echo 'make lock   write requirements.lock anew from pyproject.toml; LOCK_ARGS=--upgrade takes newer versions'
	@echo 'make clean  remove .venv and every cache'

demo: .venv/.installed
	@$(BIN)/covey demo

# Most tests wait for processes, so four run at a time, even on two cores, and one that has none left takes over another's
# (5 min became 4); PYTEST_ARGS="-n 0" runs all in one process, for a debugger.
test: check
	$(BIN)/python -m pytest -n 4 --dist worksteal $(PYTEST_ARGS)

check: .venv/.installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/basedpyright

pictures: .venv/.installed
	$(BIN)/python docs/draw_pictures.py

keys: .venv/.installed
	$(BIN)/python -m orchestrator.window.keys > docs/keys.md.new && mv docs/keys.md.new docs/keys.md

bench: .venv/.installed
	$(BIN)/python -m benchmarks.delegation $(BENCH_ARGS)
	$(BIN)/python -m benchmarks.load
	$(BIN)/python -m benchmarks.merging
	$(BIN)/python -m benchmarks.screens
	$(BIN)/python -m benchmarks.confining
	$(BIN)/python -m benchmarks.tools
	$(BIN)/python -m benchmarks.children_ready
	$(BIN)/python -m benchmarks.building

soak: .venv/.installed
	$(BIN)/python -m pytest -m soak --hypothesis-profile=soak $(PYTEST_ARGS)

lock: .venv/.installed
	$(BIN)/python -m pip install -qq --disable-pip-version-check 'uv>=0.9'
	$(BIN)/uv pip compile pyproject.toml --quiet --extra dev --universal --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' \
	  --output-file requirements.lock $(LOCK_ARGS)

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment is made anew where it is missing or broken, else brought up to the lock. The stamp is written last,
# so that an interrupted set-up is begun again.
.venv/.installed: pyproject.toml requirements.lock
	@rm -f $@
	@if ! $(BIN)/python -c 'import pip' 2>/dev/null; then \
	  for name in $(PYTHONS); do \
	    path=$$("$$name" -c 'import sys; print(sys.executable if sys.version_info >= (3, 11) else "")' 2>/dev/null); \
	    if [ -z "$$path" ]; then continue; fi; \
	    if "$$path" -c 'import venv, ensurepip' 2>/dev/null; then found=$$path; break; fi; \
	    bare=$$path; \
	  done; \
	  if [ -n "$$found" ]; then \
	    echo "Setting up .venv with $$found; this happens once and takes about a minute."; \
	    "$$found" -m venv --clear .venv; \
	  elif [ -n "$$bare" ]; then \
	    echo "$$bare cannot make a virtual environment: its venv module is not installed." >&2; \
	    echo "On Debian and Ubuntu, 'apt-get install python3-venv' brings it." >&2; \
	    exit 1; \
	  else \
	    echo "covey needs Python 3.11 or newer, and none was found among: $(strip $(PYTHONS))." >&2; \
	    echo "Install one, or name yours: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; \
	    exit 1; \
	  fi; \
	fi
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
