#!/usr/bin/env bash
# A private Python with the linters and schema checkers of requirements.txt. Prints its folder of programs.
. "$(dirname "$0")/lib.sh"

venv=$CACHE/python
if python_environment "$venv" scripts/requirements.txt; then
    say "fetching the checkers of scripts/requirements.txt"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r scripts/requirements.txt >&2
    python_installed "$venv" scripts/requirements.txt
fi
printf '%s\n' "$venv/bin"
