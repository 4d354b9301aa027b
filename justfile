# Recipes for working on passdown. `just` alone runs what a commit must pass.

default: lint types layers test

# Make a virtual environment with everything the tests need.
setup:
    python3 -m venv .venv && .venv/bin/pip install -q -c constraints.txt -e '.[dev]'

# All tests, on every core; `just test -n0 tests/io` for a few without workers.
test *ARGS:
    .venv/bin/pytest {{ARGS}}

lint:
    .venv/bin/ruff check . && .venv/bin/ruff format --check .

types:
    .venv/bin/mypy

layers:
    .venv/bin/lint-imports

# Rewrite golden packets after a change that is meant; read the diff.
goldens:
    PASSDOWN_UPDATE_GOLDENS=1 .venv/bin/pytest tests/packet

# Renew the README's excerpt of what the demonstration prints.
readme:
    .venv/bin/python .ci/readme.py update

# Renew the page of supported versions; with a folder that holds `corpus/`, what its sessions say as well.
versions FOLDER="":
    .venv/bin/python .ci/versions.py {{ if FOLDER == "" { "page" } else { "collect " + FOLDER } }}

# Speed and memory as ratios to a bare decode of the same bytes.
bench *ARGS:
    .venv/bin/python -m benchmarks {{ARGS}}

# The goals of `passdown data`; `--peer PYTHON` names an interpreter that has datatrove (see benchmarks/data/peer.py).
bench-data *ARGS:
    .venv/bin/python -m benchmarks.data {{ARGS}}

# Fuzz every reader and scanner, so many seconds in all (guided by coverage when `.[fuzz]` is installed).
fuzz SECONDS="60":
    .venv/bin/python tests/fuzz/run.py --seconds {{SECONDS}}

# Assemble the changelog from the fragments under changes/.
changelog VERSION:
    .venv/bin/towncrier build --version {{VERSION}}
